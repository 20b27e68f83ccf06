//! Cross-layer systems, one file each, behind one contract.
//!
//! An [`Agent`] is one scheme at one node. It sees packets at the places it declares, the MAC's reports on them, and what
//! its node knows; it answers through [`Cx`]. Nothing else reaches across layers: no scheme's name appears below this
//! crate. [`registry::SCHEMES`] lists them.

pub mod ack_agent;
pub mod ack_same_ac;
pub mod agent;
pub mod capture_qos;
mod cx;
pub mod dcf_plus;
pub mod ebsn;
pub mod edcf_ack;
pub mod eln;
pub mod ewa;
pub mod ftca;
pub mod i_tcp;
pub mod info;
pub mod lle_tcp;
pub mod registry;
mod setup;
pub mod snoop;
pub mod station_aifs;
pub mod tap;
pub mod testing;
pub mod window;

pub use agent::{Agent, Capability, Key, PeerEvent, Toward};
pub use cx::{Action, Cx, NodeView};
pub use info::{Info, Place, Port, Signal};
pub use plugin::{Kind, Param, Params, Value};
pub use registry::{SCHEMES, Scheme, Site, find, registry};
pub use setup::{Powers, Setup};
