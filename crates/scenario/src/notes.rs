//! Notes on a scenario: no mistakes, but other than a reader of the file may think.

use crate::Scenario;
use crate::node::{Node, Role};
use std::collections::BTreeMap;
use units::NodeId;

impl Scenario {
    /// A line each: senders that offer longer aggregates than a receiver's reorder buffer holds.
    pub fn notes(&self) -> Vec<String> {
        let parts: Vec<_> = self.nodes.iter().map(|node| node.aggregation(&self.radio)).collect();
        let mut clipped: BTreeMap<(NodeId, u16), Vec<&str>> = BTreeMap::new();
        for ((from, sender), own) in (0..).map(NodeId).zip(&self.nodes).zip(&parts) {
            let Some(own) = own else { continue };
            for (receiver, other) in self.nodes.iter().zip(&parts) {
                let is_linked = self.are_linked(sender, receiver);
                if let Some(other) = other.filter(|other| is_linked && other.buffer < own.mpdus) {
                    clipped.entry((from, other.buffer)).or_default().push(&receiver.name);
                }
            }
        }
        let line = |((from, window), to): ((NodeId, u16), Vec<&str>)| {
            let (sender, offered) = (&self.nodes[from.index()].name, parts[from.index()].map_or(0, |own| own.mpdus));
            let (first, others) = (to[0], to.len() - 1);
            let others = if others == 0 { String::new() } else { format!(" and {others} more") };
            format!(
                "\"{sender}\" offers A-MPDUs of {offered} MPDUs, and sends {window} at most to \"{first}\"{others}: their window"
            )
        };
        clipped.into_iter().map(line).collect()
    }

    /// True if frames may go from one to the other: they share a channel, and with access points in the scenario one of them is one.
    fn are_linked(&self, from: &Node, to: &Node) -> bool {
        let is_ap = |node: &Node| node.entry.role == Role::Ap;
        let has_role = is_ap(from) || is_ap(to) || !self.nodes.iter().any(is_ap);
        from.name != to.name && has_role && to.channels.iter().any(|on| from.is_on(*on))
    }
}
