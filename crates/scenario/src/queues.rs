//! Queues of radios and of wires.

use crate::plug::{Disciplines, Plug};
use crate::scalar::SOME_BYTES;
use units::Bytes;

one_of! { impl queue::Limit {
    /// Packets it holds.
    packets => Packets(u32), in 1..=1_000_000, or "limited in bytes",
    /// Bytes of IP datagrams it holds.
    bytes => Bytes(Bytes), in SOME_BYTES, or "limited in packets",
} }

words! {
    /// The MSDUs that have a queue together.
    pub enum Per, noun "share of an interface" {
        /// All of an access category.
        "interface" => Interface,
        /// Those for one receiver with one traffic identifier.
        "receiver" => Receiver,
    }
}

table! {
    /// The queue of a radio.
    pub struct RadioQueue {
        /// One queue for all of an access category, or in it one for each receiver (and TID): these take turns, and share the limit.
        per: Option<Per>, or "interface; receiver of mac80211",
        /// Its limit and its discipline.
        queue => Queue,
    }
}

table! {
    /// A queue.
    pub struct Queue {
        /// Its capacity.
        limit => queue::Limit,
        /// The order of service, and the choice of packets to drop or mark before it is full.
        discipline => Plug<Disciplines>,
    }
}
