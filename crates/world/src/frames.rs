//! The fates of frames: by class, and the causes of losses. The MAC tells the fate of a frame; its class is decided here.

use mac::{AtAddressee, Frame, Kind, Label, Loss, Overlap};
use std::ops::{Index, IndexMut};
use units::Dur;
use wire::{Class, Packet};

/// Kinds of frames: data by what they carry, and control frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameClass {
    /// A TCP segment with payload.
    TcpData,
    /// A pure TCP ACK.
    TcpAck,
    /// SYN, FIN or RST without payload.
    TcpControl,
    /// A UDP datagram.
    Udp,
    /// A control packet of a routing protocol.
    Routing,
    /// Data of any other kind.
    Other,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// The MAC's acknowledgment.
    Ack,
    /// The acknowledgment of several MPDUs.
    BlockAck,
    /// A negative acknowledgment.
    Nack,
    /// A request for the acknowledgment of several MPDUs.
    BlockAckReq,
    /// The end of what an opportunity has reserved.
    CfEnd,
}

impl FrameClass {
    /// All of them, in the order of results.
    pub const ALL: [FrameClass; 13] = [
        FrameClass::TcpData,
        FrameClass::TcpAck,
        FrameClass::TcpControl,
        FrameClass::Udp,
        FrameClass::Routing,
        FrameClass::Other,
        FrameClass::Rts,
        FrameClass::Cts,
        FrameClass::Ack,
        FrameClass::BlockAck,
        FrameClass::Nack,
        FrameClass::BlockAckReq,
        FrameClass::CfEnd,
    ];

    /// As results name it.
    pub const fn name(self) -> &'static str {
        match self {
            FrameClass::TcpData => Class::TcpData.name(),
            FrameClass::TcpAck => Class::TcpAck.name(),
            FrameClass::TcpControl => Class::TcpControl.name(),
            FrameClass::Udp => Class::Udp.name(),
            FrameClass::Routing => Class::Routing.name(),
            FrameClass::Other => Class::Other.name(),
            FrameClass::Rts => "rts",
            FrameClass::Cts => "cts",
            FrameClass::Ack => "ack",
            FrameClass::BlockAck => "block-ack",
            FrameClass::BlockAckReq => "block-ack-request",
            FrameClass::CfEnd => "cf-end",
            FrameClass::Nack => "nack",
        }
    }

    /// The class of a frame, by its kind and, if it is data, its label.
    pub fn of(kind: Kind, label: Label) -> FrameClass {
        match kind {
            Kind::Data => FrameClass::ALL[usize::from(label.0).min(FrameClass::Other as usize)],
            Kind::Rts => FrameClass::Rts,
            Kind::Cts => FrameClass::Cts,
            Kind::Ack => FrameClass::Ack,
            Kind::BlockAck => FrameClass::BlockAck,
            Kind::BlockAckReq => FrameClass::BlockAckReq,
            Kind::CfEnd => FrameClass::CfEnd,
            Kind::Nack => FrameClass::Nack,
        }
    }

    /// True if it carries an application's bytes: TCP with payload, or UDP.
    pub const fn is_data(self) -> bool {
        matches!(self, FrameClass::TcpData | FrameClass::Udp)
    }
}

/// The label that the MAC passes on with the frames of a packet.
pub(crate) fn label(packet: &Packet) -> Label {
    Label(Class::of(packet) as u8)
}

/// A value for each class of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerClass<T>([T; FrameClass::ALL.len()]);

impl<T> Index<FrameClass> for PerClass<T> {
    type Output = T;
    fn index(&self, class: FrameClass) -> &T {
        &self.0[class as usize]
    }
}

impl<T> IndexMut<FrameClass> for PerClass<T> {
    fn index_mut(&mut self, class: FrameClass) -> &mut T {
        &mut self.0[class as usize]
    }
}

impl<T: Copy> PerClass<T> {
    /// From what `of` says of each class.
    pub fn from_fn(of: impl FnMut(FrameClass) -> T) -> PerClass<T> {
        PerClass(FrameClass::ALL.map(of))
    }

    /// Each class with its value, in the order of results.
    pub fn iter(&self) -> impl Iterator<Item = (FrameClass, &T)> {
        FrameClass::ALL.into_iter().zip(&self.0)
    }
}

/// The causes of lost frames. *Data* carries a payload (TCP or UDP), *ack* is a pure TCP ACK; the first word is the frame that
/// was lost, the second the one that overlapped it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossCause {
    /// Hit by noise.
    Noise,
    /// Data, overlapped by an ACK.
    DataAck,
    /// An ACK, overlapped by data.
    AckData,
    /// Data by data.
    DataData,
    /// An ACK by an ACK.
    AckAck,
    /// RTS or CTS on either side.
    Rts,
    /// All other pairs: with MAC ACKs, SYN, FIN.
    Other,
    /// The addressee transmitted itself.
    HalfDuplex,
}

impl LossCause {
    /// All of them, in the order of results.
    pub const ALL: [LossCause; 8] = [
        LossCause::Noise,
        LossCause::DataAck,
        LossCause::AckData,
        LossCause::DataData,
        LossCause::AckAck,
        LossCause::Rts,
        LossCause::Other,
        LossCause::HalfDuplex,
    ];

    /// As results name it.
    pub const fn name(self) -> &'static str {
        match self {
            LossCause::Noise => "noise",
            LossCause::DataAck => "data-ack",
            LossCause::AckData => "ack-data",
            LossCause::DataData => "data-data",
            LossCause::AckAck => "ack-ack",
            LossCause::Rts => "rts",
            LossCause::Other => "other",
            LossCause::HalfDuplex => "half-duplex",
        }
    }

    /// The cause of loss of a frame of `class` that one of class `with` spoilt.
    pub fn of_collision(class: FrameClass, with: FrameClass) -> LossCause {
        use FrameClass::{Cts, Rts, TcpAck};
        match (class, with) {
            (Rts | Cts, _) | (_, Rts | Cts) => LossCause::Rts,
            (TcpAck, TcpAck) => LossCause::AckAck,
            (_, TcpAck) if class.is_data() => LossCause::DataAck,
            (TcpAck, _) if with.is_data() => LossCause::AckData,
            _ if class.is_data() && with.is_data() => LossCause::DataData,
            _ => LossCause::Other,
        }
    }

    /// The cause of a frame's loss; `None` if it was not, or did not reach its addressee.
    pub fn of(class: FrameClass, fate: AtAddressee, overlap: Option<Overlap>) -> Option<LossCause> {
        match (fate, overlap) {
            (AtAddressee::Lost(Loss::Noise), _) => Some(LossCause::Noise),
            (AtAddressee::Lost(Loss::HalfDuplex), _) => Some(LossCause::HalfDuplex),
            (AtAddressee::Lost(Loss::Collision), Some(by)) => {
                Some(LossCause::of_collision(class, FrameClass::of(by.kind, by.label)))
            }
            _ => None,
        }
    }
}

/// The frames of a class by their fates at their addressees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Transmissions.
    pub sent: u64,
    /// Received without error.
    pub received: u64,
    /// Hit by noise.
    pub noise: u64,
    /// Spoilt by another transmission, or begun under one.
    pub collision: u64,
    /// Of those, by the class of the transmission that overlapped first at the addressee; of several that did so at one
    /// instant, the strongest.
    pub collided_with: PerClass<u64>,
    /// Not heard: the addressee transmitted itself.
    pub half_duplex: u64,
    /// Received although another transmission overlapped: capture.
    pub captured: u64,
    /// Time on the air.
    pub airtime: Dur,
}

impl Tally {
    /// The counts after `then`.
    #[must_use]
    pub fn since(&self, then: &Tally) -> Tally {
        Tally {
            sent: self.sent - then.sent,
            received: self.received - then.received,
            noise: self.noise - then.noise,
            collision: self.collision - then.collision,
            collided_with: PerClass::from_fn(|class| self.collided_with[class] - then.collided_with[class]),
            half_duplex: self.half_duplex - then.half_duplex,
            captured: self.captured - then.captured,
            airtime: self.airtime - then.airtime,
        }
    }
}

/// The frames of a run, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FrameStats {
    pub tallies: PerClass<Tally>,
}

impl FrameStats {
    /// A frame goes on the air.
    #[inline]
    pub fn starts(&mut self, frame: &Frame) {
        let tally = &mut self.tallies[FrameClass::of(frame.kind, frame.label)];
        tally.sent += 1;
        tally.airtime += frame.airtime;
    }

    /// It has left the air, with this fate.
    #[inline]
    pub fn ends(&mut self, frame: &Frame, fate: AtAddressee, overlap: Option<Overlap>) {
        let tally = &mut self.tallies[FrameClass::of(frame.kind, frame.label)];
        match fate {
            AtAddressee::Unheard => {}
            AtAddressee::Received => {
                tally.received += 1;
                tally.captured += u64::from(overlap.is_some());
            }
            AtAddressee::Lost(Loss::Noise) => tally.noise += 1,
            AtAddressee::Lost(Loss::HalfDuplex) => tally.half_duplex += 1,
            AtAddressee::Lost(Loss::Collision) => {
                tally.collision += 1;
                if let Some(by) = overlap {
                    tally.collided_with[FrameClass::of(by.kind, by.label)] += 1;
                }
            }
        }
    }

    /// The counts after `then`.
    pub fn since(&self, then: &FrameStats) -> FrameStats {
        FrameStats { tallies: PerClass::from_fn(|class| self.tallies[class].since(&then.tallies[class])) }
    }

    /// Frames lost for each cause, over all classes.
    pub fn losses(&self, cause: LossCause) -> u64 {
        let of_class = |(class, tally): (FrameClass, &Tally)| match cause {
            LossCause::Noise => tally.noise,
            LossCause::HalfDuplex => tally.half_duplex,
            _ => {
                let with = tally.collided_with.iter();
                let by_it = with.filter(|(with, _)| LossCause::of_collision(class, *with) == cause);
                by_it.map(|(_, count)| count).sum()
            }
        };
        self.tallies.iter().map(of_class).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{NodeId, SimTime};

    #[test]
    fn a_label_leads_back_to_the_class_of_its_packet() {
        for class in Class::ALL {
            assert_eq!(FrameClass::of(Kind::Data, Label(class as u8)).name(), class.name());
        }
        assert_eq!(FrameClass::of(Kind::Ack, Label(Class::TcpData as u8)), FrameClass::Ack);
    }

    #[test]
    fn a_collision_has_the_cause_of_what_was_lost_and_what_met_it() {
        use FrameClass::{Ack, Cts, Rts, TcpAck, TcpControl, TcpData, Udp};
        for (class, with, cause) in [
            (TcpData, TcpAck, "data-ack"),
            (TcpAck, Udp, "ack-data"),
            (Udp, TcpData, "data-data"),
            (TcpAck, TcpAck, "ack-ack"),
            (Rts, Ack, "rts"),
            (TcpData, Cts, "rts"),
            (TcpData, Ack, "other"),
            (TcpControl, TcpAck, "other"),
        ] {
            assert_eq!(LossCause::of_collision(class, with).name(), cause, "{class:?} with {with:?}");
        }
    }

    #[test]
    fn losses_of_all_classes_add_up_by_cause() {
        let mut stats = FrameStats::default();
        let collides = |stats: &mut FrameStats, class: FrameClass, with: FrameClass| {
            let (kind, label) = if with == FrameClass::Rts { (Kind::Rts, 0) } else { (Kind::Data, with as u8) };
            let overlap = Overlap { since: SimTime::ZERO, by: NodeId(1), kind, label: Label(label) };
            let tally = &mut stats.tallies[class];
            tally.collision += 1;
            tally.collided_with[FrameClass::of(overlap.kind, overlap.label)] += 1;
        };
        collides(&mut stats, FrameClass::TcpData, FrameClass::TcpAck);
        collides(&mut stats, FrameClass::TcpAck, FrameClass::TcpData);
        collides(&mut stats, FrameClass::Udp, FrameClass::TcpData);
        collides(&mut stats, FrameClass::Udp, FrameClass::Rts);
        stats.tallies[FrameClass::Cts].noise = 3;
        stats.tallies[FrameClass::TcpAck].half_duplex = 2;
        // noise, data-ack, ack-data, data-data, ack-ack, rts, other, half-duplex
        assert_eq!(LossCause::ALL.map(|cause| stats.losses(cause)), [3, 1, 1, 1, 0, 1, 0, 2]);
    }
}
