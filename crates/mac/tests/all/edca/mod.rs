//! Access categories on a channel, through the public interface, in virtual time to the nanosecond.
//! IEEE 802.11-2020 clause 10.23.2; clauses on the lines.

mod backoff;
mod categories;
mod frames;
pub(crate) mod harness;
mod reply;
mod saturation;
mod transmit;
mod txop;
