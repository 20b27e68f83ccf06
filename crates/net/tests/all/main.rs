//! Tests of routers: one binary.

mod aodv;
mod aodv_air;
mod aodv_bench;
mod aodv_hostile;
mod aodv_loops;
mod dsr;
mod dsr_air;
mod dsr_bench;
mod dsr_hostile;
mod dsr_loops;
mod metrics;
