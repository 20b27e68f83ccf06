//! The tests of crate world, in one binary: linking is most of a small test's time.
#![allow(clippy::unwrap_used, reason = "tests")]

mod absent;
mod ack_priority;
mod ack_return;
mod bad_input;
mod base_station;
mod capture;
mod conservation;
mod dcf_saturation;
mod dcf_three_nodes;
mod determinism;
mod dot11g;
mod ewa;
mod flow_columns;
mod ftca;
mod hidden;
mod i_tcp;
mod layering;
mod lle_capture;
mod lle_delivery;
mod nack_vegas;
mod network;
mod network_capture;
mod network_conservation;
mod notices;
mod places;
mod plug_ins;
mod presets;
mod runner;
mod senders;
mod shared_air;
mod snoop;
mod stacking;
mod tcp_on_a_wire;
mod timeline;
mod tshark;
