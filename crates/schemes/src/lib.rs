//! Cross-layer systems, one file each, behind one contract.
//!
//! A scheme is a function `install(site, params)`, called once for each node. What it asks of its [`Site`] is its claim: an
//! [`Agent`] that sees packets and reports, queues, classifiers, hooks. Nothing else reaches across layers: no scheme's name
//! appears below this crate. [`registry`] lists them; docs/design/contract.md describes the contract.

mod agent;
mod claims;
mod covered;
mod cx;
mod deadline;
mod flow_map;
mod in_order;
mod passing;
mod retry_limit;
mod rtt;
mod site;
mod stack;
mod survey;
pub mod testing;
pub mod window;

pub use agent::{Agent, Capability, PeerEvent};
pub use claims::{Claims, Field, Place, Port, Signal};
pub use cx::{Action, Cx, Key, NodeView, Toward};
pub use plugin::{Chosen, Info, Kind, Param, Params, Value};
pub use site::{NodeFacts, Powers, Refusal, Seat, Site};
pub use stack::{Hooks, Member, Radio, Stack, What};
pub use survey::{refusal_beside_block_ack, survey};

/// Installs a scheme at one node.
///
/// Called once for each node of the scenario, or for those of `at`, in the order of the file: a scheme at all its nodes, then
/// the next scheme. A scheme that does not sit at a node asks for nothing and returns `Ok`. A scheme that sits at none of the
/// nodes, or not at one that `at` names, is an input error.
///
/// # Errors
/// The node lacks something that the scheme needs: an input error that tells what to write instead.
pub type Install = fn(&mut Site<'_>, &Params) -> Result<(), Refusal>;

plugin::registry! { "scheme", Install as install:
    "ack-agent" => ack_agent,
    "ack-filter" => ack_filter,
    "ack-same-ac" => ack_same_ac,
    "ack-suppress" => ack_suppress,
    "c3tcp" => c3tcp,
    "capture-qos" => capture_qos,
    "class-retry" => class_retry,
    "cross-lda" => cross_lda,
    "dcf-plus" => dcf_plus,
    "dda" => dda,
    "ebsn" => ebsn,
    "edcf-ack" => edcf_ack,
    "eln" => eln,
    "ewa" => ewa,
    "fastack" => fastack,
    "ftca" => ftca,
    "hack" => hack,
    "hybrid-arq" => hybrid_arq,
    "i-tcp" => i_tcp,
    "lle-cc" => lle_cc,
    "lle-tcp" => lle_tcp,
    "loss-adaptive-retry" => loss_adaptive_retry,
    "nack-vegas" => nack_vegas,
    "reverse-direction" => reverse_direction,
    "rtt-correct" => rtt_correct,
    "snoop" => snoop,
    "station-aifs" => station_aifs,
    "tap" => tap,
    "tcp-aware-arq" => tcp_aware_arq,
}

// What `interlayer new scheme` writes, tested as it stands.
#[cfg(test)]
extern crate self as schemes;
#[cfg(test)]
#[path = "../../../python/interlayer/templates/scheme.rs"]
pub mod my_scheme;
#[cfg(test)]
#[path = "../../../python/interlayer/templates/scheme_test.rs"]
mod my_scheme_test;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_names_each_scheme_as_it_names_itself() {
        assert!(NAMES.is_sorted());
        assert_eq!(NAMES, registry().ids());
    }
}
