//! Dense identifiers: each indexes a `Vec`.

use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into a table of all of them.
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
    /// A radio channel.
    ChannelId, "c"
}
id! {
    /// A radio interface: a node's place on one channel.
    InterfaceId, "i"
}
id! {
    /// One direction of one transport connection. The lowest bit is the direction: 0 runs from the end that opened the
    /// connection, 1 back to it. The next 21 bits are the connection's place in a table, the highest ten its generation:
    /// a place is used again when its connection has closed, and a packet of the old one does not pass for the new one's.
    FlowId, "f"
}

impl NodeId {
    /// All stations in reach: the group address.
    pub const BROADCAST: NodeId = NodeId(u32::MAX);
}

impl InterfaceId {
    /// No interface: that of a node without a radio.
    pub const NONE: InterfaceId = InterfaceId(u32::MAX);
}

impl FlowId {
    /// The flow of packets that belong to none: ICMP, beacons, a router's own.
    pub const NONE: FlowId = FlowId(u32::MAX);

    const INDEX_BITS: u32 = 21;
    const GENERATION_BITS: u32 = 10;

    /// Connections that may be open at once. The last place stays empty: [`FlowId::NONE`] is there.
    pub const MOST_CONNECTIONS: usize = (1 << FlowId::INDEX_BITS) - 1;
    /// Generations that are told apart.
    pub const GENERATIONS: u16 = 1 << FlowId::GENERATION_BITS;

    /// The direction away from the end that opened the connection at place `n`, the first of that place.
    pub const fn forward(n: u32) -> FlowId {
        FlowId::of_generation(n, 0)
    }

    /// The direction away from the end that opened the connection at place `n`, where `generation` connections have
    /// been before (counted modulo [`FlowId::GENERATIONS`]).
    pub const fn of_generation(n: u32, generation: u16) -> FlowId {
        debug_assert!((n as usize) < FlowId::MOST_CONNECTIONS);
        let generation = (generation % FlowId::GENERATIONS) as u32;
        FlowId(generation << (FlowId::INDEX_BITS + 1) | n << 1)
    }

    /// The other direction of the same connection.
    pub const fn reverse(self) -> FlowId {
        FlowId(self.0 ^ 1)
    }

    /// The place of its connection.
    pub const fn connection(self) -> usize {
        (self.0 as usize >> 1) & ((1 << FlowId::INDEX_BITS) - 1)
    }

    /// The number of connections that had its place before, modulo [`FlowId::GENERATIONS`].
    pub const fn generation(self) -> u16 {
        (self.0 >> (FlowId::INDEX_BITS + 1)) as u16
    }

    /// True if it runs back to the end that opened the connection.
    pub const fn is_reverse(self) -> bool {
        self.0 & 1 == 1
    }

    /// Both directions of a connection have this one in common: its forward direction.
    pub const fn opened(self) -> FlowId {
        FlowId(self.0 & !1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_a_place_a_generation_and_a_direction() {
        let it = FlowId::of_generation(1_000_000, 1_027);
        assert_eq!((it.connection(), it.generation(), it.is_reverse()), (1_000_000, 3, false));
        let back = it.reverse();
        assert_eq!((back.connection(), back.generation(), back.is_reverse()), (1_000_000, 3, true));
        assert_eq!((back.opened(), back.reverse()), (it, it));
        assert_ne!(it, FlowId::forward(1_000_000), "another generation is another flow");
        let last = FlowId::of_generation(FlowId::MOST_CONNECTIONS as u32 - 1, FlowId::GENERATIONS - 1);
        assert_ne!(last.reverse(), FlowId::NONE);
    }
}
