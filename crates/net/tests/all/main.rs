//! Tests of routers: one binary.

mod air;
mod aodv;
mod aodv_bench;
mod aodv_hostile;
mod aodv_loops;
mod bench;
mod dsr;
mod dsr_bench;
mod dsr_hostile;
mod dsr_loops;
mod metrics;
mod restless;
