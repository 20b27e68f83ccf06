//! A node: its chain of schemes, forwarding, routes, demultiplexing, delivery to its host.
//!
//! [`Node`] is sans-IO. A driver tells it what happened ([`Node::handle`]), then fetches what it does ([`Node::poll`]) until
//! there is nothing left, and wakes it at [`Node::next_wakeup`]. The simulator is one driver; whoever carries real packets is
//! another, and asks [`Demux`] which connection their bytes belong to. What the node cannot know it asks its [`Host`]: the
//! state of TCP ends, the room of the transmit queue.
//!
//! Left out: ARP, IP fragments, ICMP messages of the node's own.

mod chain;
mod demux;
mod flow_ids;
mod input;
mod node;
mod routing;
mod stage;

pub use chain::Chain;
pub use demux::{Demux, Numbers};
pub use flow_ids::FlowIds;
pub use input::{Host, Input, Output};
pub use node::Node;
