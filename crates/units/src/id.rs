//! Dense identifiers: each indexes a `Vec`.

use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into a table of all of them.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id! {
    /// A node: a host, station or access point.
    NodeId, "n"
}
id! {
    /// A wired link.
    LinkId, "l"
}
id! {
    /// One direction of one transport connection. A connection owns two neighbouring ids: the even one runs from the
    /// end that opened it, the odd one back to it.
    FlowId, "f"
}

impl NodeId {
    /// All stations in reach: the group address.
    pub const BROADCAST: NodeId = NodeId(u32::MAX);
}

impl FlowId {
    /// What belongs to no flow: ICMP, beacons.
    pub const NONE: FlowId = FlowId(u32::MAX);

    /// The direction away from the end that opened connection `n`.
    pub const fn forward(n: u32) -> FlowId {
        FlowId(n * 2)
    }

    /// The other direction of the same connection.
    pub const fn reverse(self) -> FlowId {
        FlowId(self.0 ^ 1)
    }

    /// Which connection it is a direction of.
    pub const fn connection(self) -> usize {
        (self.0 / 2) as usize
    }
}
