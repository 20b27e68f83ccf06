//! Keys that set a field of a layer's configuration. The key's declaration names the field (`sets max_attempts`), so the key is listed
//! nowhere else.

/// The value of a key that sets a field of this type.
pub(crate) trait Sets<Field> {
    /// Sets the field; a key that is not written leaves it.
    fn set(&self, field: &mut Field);
}

/// The value of a key that tells a field of this type.
pub(crate) trait Shows<Field> {
    /// The key that sets the field to what it is.
    fn show(field: &Field) -> Self;
}

/// A key without which the layer's own value stays.
impl<T: Copy> Sets<T> for Option<T> {
    fn set(&self, field: &mut T) {
        *field = self.unwrap_or(*field);
    }
}

impl<T: Copy> Shows<T> for Option<T> {
    fn show(field: &T) -> Option<T> {
        Some(*field)
    }
}

/// A key whose absence may be the field's own.
impl<T: Copy> Sets<Option<T>> for Option<T> {
    fn set(&self, field: &mut Option<T>) {
        *field = self.or(*field);
    }
}

impl<T: Copy> Shows<Option<T>> for Option<T> {
    fn show(field: &Option<T>) -> Option<T> {
        *field
    }
}

/// Implements [`Sets`] for keys that always have a value.
macro_rules! always {
    ($($type:ty)*) => {$(
        impl Sets<$type> for $type {
            fn set(&self, field: &mut $type) {
                *field = *self;
            }
        }
    )*};
}

always! { u8 mac::AfterTimeout }

/// Implements [`Sets`] for words of which one says that there is no value: `"off"`.
macro_rules! or_none {
    ($Words:ident, $none:ident | $some:ident($type:ty)) => {
        impl $crate::sets::Sets<Option<$type>> for $Words {
            fn set(&self, field: &mut Option<$type>) {
                *field = match self {
                    $Words::$none => None,
                    $Words::$some(value) => Some(*value),
                };
            }
        }
    };
    // The same for keys without which the layer's own value stays.
    (Option<$Words:ident>, $none:ident | $some:ident($type:ty)) => {
        or_none! { $Words, $none | $some($type) }

        impl $crate::sets::Sets<Option<$type>> for Option<$Words> {
            fn set(&self, field: &mut Option<$type>) {
                self.iter().for_each(|words| words.set(field));
            }
        }

        impl $crate::sets::Shows<Option<$type>> for Option<$Words> {
            fn show(field: &Option<$type>) -> Option<$Words> {
                Some(field.map_or($Words::$none, $Words::$some))
            }
        }
    };
}
