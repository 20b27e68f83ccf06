//! Tests of routers: one binary.

mod aodv;
mod aodv_air;
mod aodv_bench;
mod aodv_hostile;
mod aodv_loops;
mod metrics;
