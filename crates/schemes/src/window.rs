//! Windows as headers show them: what every scheme that reads or writes them needs to know of a connection's SYNs.

use units::FlowId;
use wire::{Flags, Ipv4, L4, Packet, Payload, Seq, Tcp, TcpOptions};

/// The window scale of one receiver, learned from both SYNs. @RFC7323 sec. 2.2
#[derive(Debug, Clone, Copy, Default)]
pub struct Scale {
    receiver: Option<u8>,
    sender: Option<u8>,
}

impl Scale {
    /// The SYN (or SYN-ACK) of the side that receives the data: its windows are meant.
    pub fn saw_receivers_syn(&mut self, syn: &Tcp) {
        self.receiver = syn.options.window_scale();
    }

    /// The SYN (or SYN-ACK) of the side that sends the data.
    pub fn saw_senders_syn(&mut self, syn: &Tcp) {
        self.sender = syn.options.window_scale();
    }

    /// The shift in force: the receiver's own, if both sides offered one.
    fn shift(&self) -> u8 {
        self.sender.and(self.receiver).unwrap_or(0)
    }

    /// The window that a segment of the receiver means, in bytes. That of a SYN is never scaled.
    pub fn bytes(&self, tcp: &Tcp) -> u32 {
        let shift = if tcp.flags.has(Flags::SYN) { 0 } else { self.shift() };
        u32::from(tcp.window) << shift
    }

    /// The field that shows a window in a segment that is no SYN, rounded down.
    pub fn field(&self, bytes: u32) -> u16 {
        u16::try_from(bytes >> self.shift()).unwrap_or(u16::MAX)
    }

    /// The least field that shows at least this window.
    pub fn field_for(&self, bytes: u32) -> u16 {
        u16::try_from((u64::from(bytes) + (1 << self.shift()) - 1) >> self.shift()).unwrap_or(u16::MAX)
    }
}

/// An answer to a segment in the name of its receiver, as far as the segment says it: not ECN-capable, whatever that was (@RFC3168 sec.
/// 6.1.4).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    /// The flow of the answer.
    pub flow: FlowId,
    ip: Ipv4,
    /// Its source and its destination.
    ports: (u16, u16),
    /// The segment's TSval, if it has timestamps.
    tsecr: Option<u32>,
}

impl Answer {
    /// An answer to this segment; `None` if it is no TCP.
    pub fn to(data: &Packet) -> Option<Answer> {
        let tcp = data.tcp()?;
        let Ipv4 { src, dst, tos, .. } = data.ip;
        let ip = Ipv4 { src: dst, dst: src, tos: tos & !wire::ecn::MASK, ttl: Ipv4::default().ttl, ..data.ip };
        let tsecr = tcp.options.timestamps().map(|(tsval, _)| tsval);
        Some(Answer { flow: data.flow.reverse(), ip, ports: (tcp.dst_port, tcp.src_port), tsecr })
    }

    /// A segment without payload that `says` this, as the receiver would have written it: with its TSval, if there are timestamps.
    pub fn segment(&self, tsval: Option<u32>, says: Tcp) -> Packet {
        let mut options = TcpOptions::default();
        if let (Some(tsval), Some(tsecr)) = (tsval, self.tsecr) {
            options.push_timestamps(tsval, tsecr);
        }
        let (src_port, dst_port) = self.ports;
        let header = Tcp { src_port, dst_port, urgent: 0, options, ..says };
        Packet { ip: self.ip, l4: L4::Tcp(header), payload: Payload::EMPTY, flow: self.flow }
    }
}

/// The windows a sender was shown in its receiver's name, by a node that lowers them.
///
/// A sender takes an ACK for a duplicate if it has data outstanding, and the ACK carries no data, no SYN and no FIN, has the number
/// that was acknowledged last, and has the window of the last ACK (@RFC5681 sec. 2). Whoever rewrites windows must neither hide
/// a duplicate by another window nor make one out of an update that the bound masks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown {
    last: Option<Said>,
}

/// One ACK: its number, the window field its receiver wrote, and the one the sender got.
#[derive(Debug, Clone, Copy)]
struct Said {
    ack: Seq,
    advertised: u16,
    written: u16,
}

/// The treatment of the window of an ACK that passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Write this field.
    Window(u16),
    /// It is a duplicate: write this field, the one written last.
    Again(u16),
    /// It is an update that tells the sender nothing and would look like a duplicate: withhold it.
    Nothing,
}

impl Shown {
    /// The field that the sender got last.
    pub fn written(&self) -> Option<u16> {
        self.last.map(|said| said.written)
    }

    /// The window of `packet`, a segment of the receiver with ACK set and not SYN: the least of what it advertises and
    /// `most` bytes, but of `most` at least one `mss`. A window that the receiver itself closes or keeps below that stands.
    pub fn show(&mut self, packet: &Packet, most: u32, mss: u32, scale: &Scale) -> Show {
        let Some(tcp) = packet.tcp() else { return Show::Nothing };
        let own = scale.field(most).max(scale.field_for(mss));
        let now = Said { ack: tcp.ack, advertised: tcp.window, written: tcp.window.min(own) };
        let Some(last) = self.last else {
            self.last = Some(now);
            return Show::Window(now.written);
        };
        // Overtaken by a later ACK: the sender takes no window from it. @RFC9293 sec. 3.10.7.4
        if now.ack.lt(last.ack) {
            return Show::Window(now.written);
        }
        if packet.pure_ack().is_some() && now.ack == last.ack {
            if now.advertised == last.advertised {
                return Show::Again(last.written);
            }
            // With SACK blocks it may be a duplicate for all its new window, and tells something besides.
            let is_plain = tcp.options.sack_blocks().next().is_none() && !tcp.flags.any(Flags::ECE | Flags::URG);
            if now.written == last.written && is_plain {
                self.last = Some(now);
                return Show::Nothing;
            }
        }
        self.last = Some(now);
        Show::Window(now.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{IN, ack, segment};
    use wire::SeqRange;

    #[test]
    fn the_receivers_shift_counts_only_if_both_sides_offered_one() {
        let mut syn = Tcp { window: 40_000, flags: Flags::SYN, ..Tcp::default() };
        syn.options.push_window_scale(3);
        let later = Tcp { window: 5_000, ..Tcp::default() };
        let mut scale = Scale::default();
        scale.saw_receivers_syn(&syn);
        assert_eq!(scale.bytes(&later), 5_000);
        scale.saw_senders_syn(&syn);
        assert_eq!((scale.bytes(&syn), scale.bytes(&later)), (40_000, 40_000));
        assert_eq!((scale.field(40_000), scale.field(40_007), scale.field(u32::MAX)), (5_000, 5_000, u16::MAX));
        assert_eq!(
            (scale.field_for(40_000), scale.field_for(40_001), scale.field_for(u32::MAX)),
            (5_000, 5_001, u16::MAX)
        );
    }

    /// Shows one ACK after another under the same bound: number and window each.
    fn shows<const N: usize>(most: u32, acks: [(u32, u16); N]) -> [Show; N] {
        let mut shown = Shown::default();
        acks.map(|(number, window)| shown.show(&ack(IN, number, window), most, 1000, &Scale::default()))
    }

    #[test]
    fn a_window_is_the_least_of_the_advertised_and_the_bound_but_of_the_bound_one_mss() {
        use Show::Window;
        assert_eq!(shows(5_000, [(1, 8_000), (2, 4_000), (3, 0)]), [Window(5_000), Window(4_000), Window(0)]);
        assert_eq!(shows(0, [(1, 8_000), (2, 400), (3, 0)]), [Window(1_000), Window(400), Window(0)]);
    }

    #[test]
    fn one_mss_is_rounded_up_where_windows_are_scaled() {
        let mut syn = Tcp { flags: Flags::SYN, ..Tcp::default() };
        syn.options.push_window_scale(7);
        let mut scale = Scale::default();
        scale.saw_receivers_syn(&syn);
        scale.saw_senders_syn(&syn);
        // 1000 / 128 = 7.8: eight units, since seven are 896 bytes.
        assert_eq!(Shown::default().show(&ack(IN, 1, 400), 0, 1000, &scale), Show::Window(8));
    }

    #[test]
    fn a_duplicate_repeats_the_window_written_last_whatever_the_bound_is_now() {
        let (mut shown, scale) = (Shown::default(), Scale::default());
        let mut show = |packet: &Packet, most| shown.show(packet, most, 1000, &scale);
        assert_eq!(show(&ack(IN, 7, 8_000), 5_000), Show::Window(5_000));
        assert_eq!(show(&ack(IN, 7, 8_000), 3_000), Show::Again(5_000));
        // Data with the same number is no duplicate, and its window is what the next one must repeat.
        let data = segment(IN, Flags::ACK, Seq(1), 100, Seq(7), 8_000);
        assert_eq!(show(&data, 3_000), Show::Window(3_000));
        assert_eq!(show(&ack(IN, 7, 8_000), 5_000), Show::Again(3_000));
    }

    #[test]
    fn an_update_that_the_bound_masks_is_withheld_and_one_that_opens_a_closed_window_is_not() {
        use Show::{Again, Nothing, Window};
        let acks = [(7, 0), (7, 6_000), (7, 8_000), (7, 8_000), (7, 3_000)];
        assert_eq!(shows(5_000, acks), [Window(0), Window(5_000), Nothing, Again(5_000), Window(3_000)]);
        let mut with_sack = ack(IN, 7, 9_000);
        if let Some(tcp) = with_sack.tcp_mut() {
            tcp.options.push_sack(&[SeqRange { start: Seq(1007), end: Seq(2007) }]);
        }
        let with_echo = segment(IN, Flags::ACK | Flags::ECE, Seq(1), 0, Seq(7), 10_000);
        let mut shown = Shown::default();
        for packet in [ack(IN, 7, 8_000), with_sack, with_echo] {
            assert_eq!(shown.show(&packet, 5_000, 1000, &Scale::default()), Window(5_000));
        }
    }

    #[test]
    fn an_overtaken_ack_changes_nothing_of_what_was_shown() {
        use Show::{Again, Window};
        assert_eq!(shows(5_000, [(7, 8_000), (6, 9_000), (7, 8_000)]), [Window(5_000), Window(5_000), Again(5_000)]);
    }
}
