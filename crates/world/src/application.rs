//! The applications at the ends of a connection, sans-IO: an end is told what its TCP says, and answers with what it does.

use crate::flow::{Owner, Stated};
use crate::scenario::Traffic;
use tcp::Output;
use traffic::Conn;
use units::SimTime;
use wire::{Content, Packet};

/// The answer of an application to what its TCP says.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reaction {
    /// Bytes that it writes.
    pub write: u64,
    /// Bytes that it reads.
    pub read: u64,
    /// True if it closes its side.
    pub closes: bool,
    /// The time of its next write by the clock, if that has changed.
    pub next_write: Option<SimTime>,
    /// The time of its next read by the clock, if that has changed.
    pub next_read: Option<SimTime>,
    /// The user whose connection stands now.
    pub connected: Option<(u32, Conn)>,
    /// Bytes that have arrived for a user.
    pub arrived: u64,
}

impl Owner {
    /// Tells the application at an end what its TCP says.
    pub fn hear(&mut self, now: SimTime, end: usize, said: &Output) -> Reaction {
        match (self, said) {
            (Owner::Scenario(stated), _) => stated.hear(now, end, said),
            (Owner::User(child), Output::Connected) if end == 0 => {
                Reaction { connected: child.conn.map(|conn| (child.user, conn)), ..Reaction::default() }
            }
            (Owner::User(_), Output::Readable { len, .. }) => {
                let len = u64::from(*len);
                Reaction { read: len, arrived: len, ..Reaction::default() }
            }
            (Owner::User(_) | Owner::Driver, Output::PeerClosed) => Reaction { closes: true, ..Reaction::default() },
            (Owner::User(_) | Owner::Driver, _) => Reaction::default(),
        }
    }

    /// A segment leaves an end: what is measured of it.
    #[inline]
    pub fn note_leaving(&mut self, now: SimTime, end: usize, packet: &Packet) {
        let Owner::Scenario(stated) = self else { return };
        match (end, &packet.payload.content) {
            (0, Content::Virtual { offset }) if packet.payload.len > 0 => {
                stated.latency.leaves(now, offset + u64::from(packet.payload.len));
            }
            (1, _) => {
                if let Some(gaps) = &mut stated.ack_gaps
                    && packet.pure_ack().is_some()
                {
                    gaps.leaves(now, packet.ip.id);
                }
            }
            _ => {}
        }
    }
}

impl Stated {
    fn hear(&mut self, now: SimTime, end: usize, said: &Output) -> Reaction {
        let mut reaction = Reaction::default();
        match said {
            Output::Connected | Output::SendSpace => {
                let source = &mut self.sources[end];
                if matches!(said, Output::Connected) && source.is_timed() {
                    source.next = now;
                    reaction.next_write = Some(now);
                }
                (reaction.write, reaction.closes) = (source.bulk(), source.is_done);
            }
            Output::Readable { len, .. } => {
                let len = u64::from(*len);
                self.delivered[end].payload += len;
                let payload = self.delivered[end].payload;
                if end == 1 {
                    self.latency.delivered(now, payload);
                    if self.sources[0].total() == Some(payload) {
                        self.finished = Some(now);
                    }
                }
                let sink = &mut self.sinks[end];
                let before = sink.next;
                reaction.read = sink.arrived(now, len);
                reaction.next_read = (sink.next != before).then_some(sink.next);
            }
            // The other application is done: so is this one, unless it has something to write itself.
            Output::PeerClosed => {
                let source = &self.sources[end];
                reaction.closes = source.traffic == Traffic::None || source.is_done;
            }
            Output::Segment { .. } | Output::Closed | Output::Failed(_) => {}
        }
        reaction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::users::Child;

    #[test]
    fn a_users_connection_reads_all_and_closes_with_the_other_end() {
        let child = Child { user: 3, conn: None, request: 0, response: 0, missing: 0 };
        let mut owner = Owner::User(child);
        let mut hear = |said: Output| owner.hear(SimTime::ZERO, 1, &said);
        let read = hear(Output::Readable { offset: 0, len: 500 });
        assert_eq!((read.read, read.arrived, read.write, read.closes), (500, 500, 0, false));
        assert!(hear(Output::PeerClosed).closes);
        assert!(hear(Output::Connected).connected.is_none(), "the end that was opened to has no user");
    }
}
