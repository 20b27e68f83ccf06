//! Behaviour of stations on a channel, through the public interface, in virtual time to the microsecond.
//! IEEE 802.11-2020 clause 10.3; clauses on the lines.

mod answers;
mod backoff;
mod errors;
pub(crate) mod harness;
mod nav;
mod retries;
