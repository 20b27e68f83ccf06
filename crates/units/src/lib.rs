//! Quantities and identifiers as types.
//!
//! Models nothing; gives the other crates integer time, sizes, rates and powers that cannot be mixed up, and parses the
//! way a scenario spells them (`"20 ms"`, `"5.5 Mb/s"`, `"1500 B"`, `"-62 dBm"`, `"2.4 GHz"`). Decimal multiples only: `kB` is
//! 1000 bytes, `Mb/s` 10⁶ bit/s.

mod frequency;
mod id;
mod nodes;
mod parse;
mod power;
mod rate;
mod size;
mod time;

pub use frequency::Hertz;
pub use id::{ChannelId, FlowId, InterfaceId, LinkId, NodeId};
pub use nodes::Nodes;
pub use parse::UnitError;
pub use power::{Db, Dbm, MilliWatt};
pub use rate::BitRate;
pub use size::Bytes;
pub use time::{Dur, SimTime};

/// `Debug` of a trait's objects: the name of the trait.
///
/// With `Debug` as a supertrait every table of methods would have the one of its implementor, and so every build the code that writes
/// the fields of all of them. Nothing calls it.
#[macro_export]
macro_rules! debug_by_name {
    ($name:ident) => {
        impl ::core::fmt::Debug for dyn $name + '_ {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(::core::stringify!($name))
            }
        }
    };
}
