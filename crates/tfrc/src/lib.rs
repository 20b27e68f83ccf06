//! TCP-friendly rate control: a sender that paces datagrams at the rate that a TCP would have, and a receiver that measures. @RFC5348
//!
//! No congestion control of TCP but a pair of endpoints of its own: datagrams with a number, a time stamp and the sender's RTT there,
//! reports back once a round trip. Without IO, like every machine here: the caller carries [`Data`] and [`Feedback`] (over UDP) and
//! tells the time.
//!
//! Left out: history discounting (sec. 5.5), the reduction of oscillations (sec. 4.5), senders that have less to send than the rate
//! allows (the data-limited case of sec. 4.3), ECN. Not joined to scenarios yet.

mod equation;
mod history;
mod receiver;
mod sender;

pub use equation::{loss_rate, throughput};
pub use history::{History, mean_interval};
pub use receiver::{Feedback, Receiver};
pub use sender::{Data, Sender};
