//! The tests of crate schemes, in one binary: linking is most of a small test's time.
#![allow(clippy::unwrap_used, reason = "tests")]

mod ack_agent;
mod ack_filter;
mod ack_same_ac;
mod ack_suppress;
mod c3tcp;
mod capture_qos;
mod class_retry;
mod cross_lda;
mod dcf_plus;
mod dda;
mod ebsn;
mod edcf_ack;
mod eln;
mod every_scheme;
mod ewa;
mod fastack;
mod five;
mod ftca;
mod hack;
mod hybrid_arq;
mod i_tcp;
mod lle_cc;
mod lle_tcp;
mod lle_tcp_window;
mod loss_adaptive_retry;
mod nack_vegas;
mod queue_bed;
mod reverse_direction;
mod rtt_correct;
mod snoop;
mod station_aifs;
mod tap;
mod tcp_aware_arq;
