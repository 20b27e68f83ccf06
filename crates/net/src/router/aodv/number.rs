//! Sequence numbers: each destination has one of its own, which says how fresh a route to it is. @RFC3561 sec. 6.1

/// A sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Number(pub u32);

impl Number {
    /// True if it is fresher than `other`: the difference, as a signed number of 32 bits, is above zero. @RFC3561 sec. 6.1
    pub fn is_after(self, other: Number) -> bool {
        (self.0.wrapping_sub(other.0) as i32) > 0
    }

    /// The number after it; after the largest comes zero.
    pub fn next(self) -> Number {
        Number(self.0.wrapping_add(1))
    }

    /// The fresher of both.
    pub fn max(self, other: Number) -> Number {
        if other.is_after(self) { other } else { self }
    }

    /// Its bytes in a message.
    pub fn to_be_bytes(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }
}
