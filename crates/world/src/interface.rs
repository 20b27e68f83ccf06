//! Radio interfaces.

use mac::Station;
use units::{ChannelId, NodeId};

/// A radio interface: a node's place on a channel, where it has one at most.
#[derive(Debug)]
pub(crate) struct Interface {
    pub node: NodeId,
    pub channel: ChannelId,
    pub station: Station,
}
