//! The access of stations to the medium: under DCF, or by access categories.

use core::ops::RangeInclusive;
use units::Dur;

/// In slots.
pub(crate) const CONTENTION_WINDOW: RangeInclusive<u16> = RangeInclusive::new(0, 32_767);

words! {
    /// The method by which a station accesses the medium.
    pub enum Access, noun "access method" {
        /// One queue.
        "dcf" => Dcf,
        /// A queue and a backoff for each access category.
        "edca" => Edca,
    }
}

table! {
    /// Parameters of an access category; `None`: the standard's.
    #[derive(Copy, Default)]
    pub struct Category sets mac::Category {
        /// Slots of its interframe space beyond SIFS.
        aifsn: Option<u8>, in 1..=15, or "the standard's", sets aifsn,
        /// Least contention window in slots.
        cw_min: Option<u16>, in CONTENTION_WINDOW, or "the standard's", sets cw_min,
        /// Greatest contention window in slots.
        cw_max: Option<u16>, in CONTENTION_WINDOW, or "the standard's", sets cw_max,
        /// The time for which it may keep the medium.
        txop_limit: Option<Dur>, or "0 s: one exchange", sets txop_limit,
    }
}

impl Category {
    /// The values of this one, and where it is silent those of the other.
    fn or(self, other: Category) -> Category {
        Category {
            aifsn: self.aifsn.or(other.aifsn),
            cw_min: self.cw_min.or(other.cw_min),
            cw_max: self.cw_max.or(other.cw_max),
            txop_limit: self.txop_limit.or(other.txop_limit),
        }
    }
}

table! {
    /// Parameters of the access categories.
    #[derive(Copy)]
    pub struct Edca {
        /// Background.
        bk: Option<Category>, or "the standard's",
        /// Best effort.
        be: Option<Category>, or "the standard's",
        /// Video.
        vi: Option<Category>, or "the standard's",
        /// Voice.
        vo: Option<Category>, or "the standard's",
    }
}

impl Edca {
    /// By rising priority.
    fn all(&self) -> [Category; 4] {
        [self.bk, self.be, self.vi, self.vo].map(Option::unwrap_or_default)
    }
}

/// The categories of a node: what its own table says, and where that is silent `[radio]`.
pub(crate) fn categories(own: Option<Edca>, of_radio: Option<Edca>) -> [Category; 4] {
    let [own, of_radio] = [own, of_radio].map(|edca| edca.map_or([Category::default(); 4], |edca| edca.all()));
    core::array::from_fn(|i| own[i].or(of_radio[i]))
}
