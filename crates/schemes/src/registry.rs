//! The list of schemes: explicit and sorted, the same on every machine.

use crate::{Agent, Info, Params};
use plugin::Registry;
use std::net::Ipv4Addr;
use units::NodeId;

/// What a scheme may know of a node before it decides to sit there.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    /// The node.
    pub node: NodeId,
    /// Nodes in all.
    pub nodes: usize,
    /// Whether it has a radio.
    pub has_air: bool,
    /// Its address.
    pub address: Ipv4Addr,
    /// Whether it forwards for others.
    pub forwards: bool,
    /// Whether flows start at it, and end at it.
    pub starts_flows: bool,
    /// See `starts_flows`.
    pub ends_flows: bool,
    /// Transmissions in all that its MAC allows a short frame.
    pub max_attempts: u8,
    /// Access categories of its radio; 0 under DCF.
    pub categories: u8,
    /// Slot, interframe spaces and contention window of its radio.
    pub timing: phy::Timing,
    /// The receiver policy ([`tcp::ack::registry`]) of all TCP flows that end at it, if they agree on one.
    pub receiver: Option<&'static str>,
}

/// A registered scheme.
#[derive(Debug, Clone, Copy)]
pub struct Scheme {
    /// Its declaration.
    pub info: &'static Info,
    /// Its agent for a node; `None` where it does not sit.
    pub build: fn(&Site, &Params) -> Option<Box<dyn Agent>>,
}

/// One line a scheme: its id and the module that holds its `INFO` and `build`.
macro_rules! registry {
    ($($id:literal => $module:ident),* $(,)?) => {
        /// The schemes of this crate, by id.
        pub const SCHEMES: &[Scheme] = &[$(Scheme { info: &crate::$module::INFO, build: crate::$module::build }),*];

        /// The schemes of this crate. A program may add its own.
        pub fn registry() -> Registry<Scheme> {
            let declarations: [&'static plugin::Info; SCHEMES.len()] = [$(const { &crate::$module::INFO.plugin() }),*];
            Registry::of("scheme", declarations.into_iter().zip(SCHEMES.iter().copied()))
                .expect("every scheme has an id of its own and sound defaults; the tests make the registry")
        }

        #[cfg(test)]
        const IDS: &[&str] = &[$($id),*];
    };
}

registry! {
    "ack-agent" => ack_agent,
    "ack-same-ac" => ack_same_ac,
    "capture-qos" => capture_qos,
    "dcf-plus" => dcf_plus,
    "ebsn" => ebsn,
    "edcf-ack" => edcf_ack,
    "eln" => eln,
    "ewa" => ewa,
    "ftca" => ftca,
    "i-tcp" => i_tcp,
    "lle-tcp" => lle_tcp,
    "snoop" => snoop,
    "station-aifs" => station_aifs,
    "tap" => tap,
}

/// The scheme of that id in [`SCHEMES`].
pub fn find(id: &str) -> Option<&'static Scheme> {
    SCHEMES.iter().find(|scheme| scheme.info.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_names_each_scheme_as_it_names_itself() {
        assert!(IDS.is_sorted());
        assert_eq!(IDS, SCHEMES.iter().map(|scheme| scheme.info.id).collect::<Vec<_>>());
        assert_eq!(IDS, registry().ids());
    }
}
