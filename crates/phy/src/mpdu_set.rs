//! Sets of the MPDUs of a PSDU, by place. As wide as an agreement of block acknowledgment may be: 64 of HT and VHT
//! (@80211-2020 10.25.2), 256 of HE, 1024 of EHT.

use core::fmt;

const WORD: usize = u64::BITS as usize;

/// Some MPDUs of a PSDU: by their places, the first 0. The first 64 take a word, and a set of them allocates nothing. Others stand
/// behind a pointer, in memory that a set keeps when it is cleared.
#[derive(Default)]
pub struct MpduSet {
    /// Places 0 … 63.
    first: u64,
    /// Places from 64 on, a word for each 64.
    others: Option<Box<[u64]>>,
}

impl MpduSet {
    /// The number of a PSDU can have.
    pub const MOST: usize = 1024;
    /// None of them.
    pub const NONE: MpduSet = MpduSet { first: 0, others: None };
    /// The only MPDU of a PSDU of one.
    pub const ONE: MpduSet = MpduSet { first: 1, others: None };

    /// The first `n`.
    pub fn first(n: usize) -> MpduSet {
        let mut set = MpduSet::NONE;
        set.set_first(n);
        set
    }

    /// None yet, with memory for `n` places: no other allocation follows.
    pub fn with_width(n: usize) -> MpduSet {
        let words = n.div_ceil(WORD).saturating_sub(1);
        MpduSet { first: 0, others: (words > 0).then(|| vec![0; words].into()) }
    }

    /// Becomes the set of the first `n`.
    #[inline]
    pub fn set_first(&mut self, n: usize) {
        self.first = low(n);
        if n > WORD || self.others.is_some() {
            self.set_others(n);
        }
    }

    #[cold]
    fn set_others(&mut self, n: usize) {
        self.widen(n);
        for (i, word) in self.others.iter_mut().flatten().enumerate() {
            *word = low(n.saturating_sub((i + 1) * WORD));
        }
    }

    /// Makes room for `n` places.
    #[cold]
    fn widen(&mut self, n: usize) {
        let words = n.div_ceil(WORD).saturating_sub(1);
        let old = self.others.as_deref().unwrap_or_default();
        if old.len() < words {
            let mut others = vec![0; words];
            others[..old.len()].copy_from_slice(old);
            self.others = Some(others.into());
        }
    }

    /// True if the MPDU at this place is one of them.
    #[inline]
    pub fn contains(&self, place: usize) -> bool {
        let word = match (place / WORD, &self.others) {
            (0, _) => Some(&self.first),
            (word, Some(others)) => others.get(word - 1),
            (_, None) => None,
        };
        word.is_some_and(|word| word >> (place % WORD) & 1 != 0)
    }

    /// Adds the MPDU at this place.
    #[inline]
    pub fn insert(&mut self, place: usize) {
        if place < WORD {
            self.first |= 1 << place;
            return;
        }
        let word = place / WORD - 1;
        if self.others.as_ref().is_none_or(|others| others.len() <= word) {
            self.widen(place + 1);
        }
        if let Some(others) = &mut self.others {
            others[word] |= 1 << (place % WORD);
        }
    }

    /// Takes all out.
    #[inline]
    pub fn clear(&mut self) {
        self.set_first(0);
    }

    /// Takes out the first `n` places; all others move down by as many.
    #[inline]
    pub fn shift(&mut self, n: usize) {
        if self.others.is_some() {
            self.shift_words(n);
        } else {
            self.first = self.first.checked_shr(n as u32).unwrap_or(0);
        }
    }

    fn shift_words(&mut self, n: usize) {
        let Some(others) = &mut self.others else { return };
        let (words, bits) = ((n / WORD).min(others.len() + 1), n % WORD);
        if words > 0 {
            self.first = others.get(words - 1).copied().unwrap_or(0);
            let whole = words.min(others.len());
            others.copy_within(whole.., 0);
            let left = others.len() - whole;
            others[left..].fill(0);
        }
        if bits > 0 {
            let mut above = 0;
            for word in others.iter_mut().rev().chain([&mut self.first]) {
                (*word, above) = (*word >> bits | above, *word << (WORD - bits));
            }
        }
    }

    fn words(&self) -> impl Iterator<Item = u64> + '_ {
        core::iter::once(self.first).chain(self.others.iter().flatten().copied())
    }

    /// The number of they are.
    pub fn len(&self) -> usize {
        self.words().map(|word| word.count_ones() as usize).sum()
    }

    /// True if there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.others.iter().flatten().all(|word| *word == 0)
    }

    /// True if they are the first `n` and no others.
    #[inline]
    pub fn is_first(&self, n: usize) -> bool {
        match &self.others {
            None => n <= WORD && self.first == low(n),
            Some(_) => self.len() == n && self.iter().last().is_none_or(|place| place < n),
        }
    }

    /// Their places, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let places = |(i, mut word): (usize, u64)| {
            core::iter::from_fn(move || {
                let place = (word != 0).then(|| i * WORD + word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(place)
            })
        };
        self.words().enumerate().flat_map(places)
    }
}

/// A word with the lowest `n` bits set, all of them from 64 on.
const fn low(n: usize) -> u64 {
    if n >= WORD { u64::MAX } else { (1 << n) - 1 }
}

impl Clone for MpduSet {
    fn clone(&self) -> MpduSet {
        MpduSet { first: self.first, others: self.others.clone() }
    }

    /// Keeps its own memory, if that suffices.
    fn clone_from(&mut self, source: &MpduSet) {
        self.clear();
        self.first = source.first;
        self.extend(source.iter().filter(|place| *place >= WORD));
    }
}

/// The same places; how wide the two are does not matter.
impl PartialEq for MpduSet {
    fn eq(&self, other: &MpduSet) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for MpduSet {}

impl fmt::Debug for MpduSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Extend<usize> for MpduSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, places: I) {
        places.into_iter().for_each(|place| self.insert(place));
    }
}

impl FromIterator<usize> for MpduSet {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> MpduSet {
        let mut set = MpduSet::NONE;
        set.extend(places);
        set
    }
}
