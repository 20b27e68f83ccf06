//! Prefixes of addresses, and tables of them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

/// All addresses that begin with the same bits, IPv4 or IPv6. @RFC4632 sec. 3.1, @RFC4291 sec. 2.3
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    network: IpAddr,
    len: u8,
}

/// The reason why a text or number is no prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    /// No address and length.
    #[error("expected an address and a length such as \"192.0.2.0/24\"")]
    Malformed,
    /// More bits than an address has.
    #[error("an address of this kind has {0} bits")]
    TooLong(u8),
    /// Bits behind the length.
    #[error("bits are set behind the first {0}")]
    HostBits(u8),
}

/// The bits of an address from the highest of a word on, and how many they are.
fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    }
}

/// The first `len` bits of a word.
fn mask(len: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0)
}

impl Prefix {
    /// All IPv4 addresses: the default route. @RFC4632 sec. 5.1
    pub const DEFAULT: Prefix = Prefix { network: IpAddr::V4(Ipv4Addr::UNSPECIFIED), len: 0 };

    /// The addresses that have the first `len` bits of `network`.
    ///
    /// # Errors
    /// The length is more than an address has, or bits are set behind it.
    pub fn new(network: IpAddr, len: u8) -> Result<Prefix, PrefixError> {
        let (bits, all) = bits(network);
        if len > all {
            return Err(PrefixError::TooLong(all));
        }
        if bits & !mask(len) != 0 {
            return Err(PrefixError::HostBits(len));
        }
        Ok(Prefix { network, len })
    }

    /// The number of bits it fixes.
    pub fn bits(self) -> u8 {
        self.len
    }

    /// True if it is one of IPv4.
    pub fn is_ipv4(self) -> bool {
        self.network.is_ipv4()
    }

    /// True if `address` begins with it.
    pub fn contains(self, address: IpAddr) -> bool {
        let ((own, all), (other, of_other)) = (bits(self.network), bits(address));
        all == of_other && (own ^ other) & mask(self.len) == 0
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.len)
    }
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Prefix, PrefixError> {
        let (network, len) = text.split_once('/').ok_or(PrefixError::Malformed)?;
        let network = network.parse().map_err(|_| PrefixError::Malformed)?;
        let is_number = len.bytes().all(|byte| byte.is_ascii_digit());
        let len = len.parse().ok().filter(|_| is_number).ok_or(PrefixError::Malformed)?;
        Prefix::new(network, len)
    }
}

/// A table of prefixes, each of which leads to a `T`.
///
/// It is searched from the longest on: tables here have a few entries, and most worlds none.
#[derive(Debug, Clone)]
pub struct Table<T> {
    /// The longest first, no prefix twice.
    entries: Vec<(Prefix, T)>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { entries: Vec::new() }
    }
}

impl<T> Table<T> {
    /// Adds an entry. Returns what the prefix has led to, if it was there.
    pub fn insert(&mut self, prefix: Prefix, to: T) -> Option<T> {
        let key = |prefix: Prefix| (u8::MAX - prefix.len, prefix);
        match self.entries.binary_search_by_key(&key(prefix), |(known, _)| key(*known)) {
            Ok(place) => Some(std::mem::replace(&mut self.entries[place].1, to)),
            Err(place) => {
                self.entries.insert(place, (prefix, to));
                None
            }
        }
    }

    /// The value of the longest prefix of an address; `None` if no prefix holds it. @RFC1812 sec. 5.2.4.3
    pub fn find(&self, address: IpAddr) -> Option<&T> {
        self.entries.iter().find(|(prefix, _)| prefix.contains(address)).map(|(_, to)| to)
    }

    /// True if nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // In a test a panic is the report.
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv6Addr;

    #[test]
    fn a_prefix_reads_as_it_is_written_and_says_what_is_wrong_with_it() {
        for text in ["0.0.0.0/0", "10.1.0.0/16", "192.0.2.7/32", "::/0", "2001:db8::/32"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        assert_eq!("0.0.0.0/0".parse(), Ok(Prefix::DEFAULT));
        for text in ["", "10.1.0.0", "10.1/16", "10.1.0.0/", "10.1.0.0/+8", "x/8", "10.0.0.0/256"] {
            assert_eq!(text.parse::<Prefix>(), Err(PrefixError::Malformed), "{text}");
        }
        assert_eq!("10.0.0.0/33".parse::<Prefix>(), Err(PrefixError::TooLong(32)));
        assert_eq!("10.1.0.0/8".parse::<Prefix>(), Err(PrefixError::HostBits(8)));
    }

    #[test]
    fn an_ipv4_prefix_holds_no_ipv6_address() {
        let mapped = Ipv4Addr::new(10, 1, 0, 1).to_ipv6_mapped();
        assert!(!Prefix::DEFAULT.contains(mapped.into()));
        assert!(!"::/0".parse::<Prefix>().unwrap().contains(Ipv4Addr::LOCALHOST.into()));
        assert!("::/0".parse::<Prefix>().unwrap().contains(Ipv6Addr::LOCALHOST.into()));
    }

    /// Addresses that share many bits, so that prefixes nest.
    fn address() -> impl Strategy<Value = IpAddr> {
        let bits = prop_oneof![0u32..16, (0u32..16).prop_map(|high| high << 28), any::<u32>()];
        (bits, any::<bool>()).prop_map(|(bits, is_v4)| {
            if is_v4 { Ipv4Addr::from(bits).into() } else { Ipv6Addr::from(u128::from(bits) << 96).into() }
        })
    }

    fn prefix() -> impl Strategy<Value = Prefix> {
        (address(), 0u8..=32).prop_map(|(address, len)| {
            let network = match address {
                IpAddr::V4(it) => Ipv4Addr::from(u32::from(it) & (mask(len) >> 96) as u32).into(),
                IpAddr::V6(it) => Ipv6Addr::from(u128::from(it) & mask(len)).into(),
            };
            Prefix::new(network, len).expect("nothing is left behind its length")
        })
    }

    /// True if the first bits of both, as text, are the same.
    fn begins(prefix: Prefix, address: IpAddr) -> bool {
        let text = |address: IpAddr| match address {
            IpAddr::V4(it) => format!("four{:032b}", u32::from(it)),
            IpAddr::V6(it) => format!("six{:0128b}", u128::from(it)),
        };
        let family = if prefix.is_ipv4() { 4 } else { 3 };
        text(address).starts_with(&text(prefix.network)[..family + usize::from(prefix.bits())])
    }

    proptest! {
        #[test]
        fn the_longest_prefix_wins_as_a_search_of_all_says(
            prefixes in prop::collection::vec(prefix(), 0..24),
            addresses in prop::collection::vec(address(), 1..16),
        ) {
            let mut table = Table::default();
            for (i, prefix) in prefixes.iter().enumerate() {
                let before = prefixes[..i].iter().rposition(|other| other == prefix);
                prop_assert_eq!(table.insert(*prefix, i), before);
            }
            for address in addresses {
                let holding = prefixes.iter().enumerate().filter(|(_, prefix)| begins(**prefix, address));
                // Of one prefix the last, as a later entry takes the place of an earlier one.
                let longest = holding.max_by_key(|(i, prefix)| (prefix.bits(), *i)).map(|(i, _)| i);
                prop_assert_eq!(table.find(address).copied(), longest);
            }
        }
    }
}
