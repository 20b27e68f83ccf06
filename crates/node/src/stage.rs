//! The stages of a packet on its way through a node.

use schemes::Place;

/// The next stage of a packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Past the agents of this place.
    At(Place),
    /// Its route is known now; the agents of this place have seen it.
    Routed(Place),
    /// It was on its way to a neighbour that has gone: all agents have seen it.
    Again,
    /// To the host, which was slow to take it.
    Local,
}
