//! The timeline of the air: who transmitted what when, and what became of it at its addressee.

use crate::frames::{FrameClass, LossCause};
use mac::{AtAddressee, Channel, Frame, Got, Loss, Overlap, Qos, Receptions};
use units::{BitRate, Bytes, Dbm, Dur, FlowId, NodeId, SimTime};
use wire::Packets;

/// The part of a run that a timeline covers: everything in the air at some time from `from` on and before `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its begin.
    pub from: SimTime,
    /// Its end.
    pub until: SimTime,
}

/// The outcomes of a transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Received, and nothing else overlapped it.
    Received,
    /// Received although another transmission overlapped.
    Captured,
    /// Lost to noise.
    Noise,
    /// Lost to another transmission.
    Collision,
    /// The addressee transmitted itself.
    HalfDuplex,
    /// It did not reach its addressee.
    OutOfReach,
    /// For a group: nobody in particular.
    Group,
    /// The run was over before it was.
    InTheAir,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 8] = [
        Outcome::Received,
        Outcome::Captured,
        Outcome::Noise,
        Outcome::Collision,
        Outcome::HalfDuplex,
        Outcome::OutOfReach,
        Outcome::Group,
        Outcome::InTheAir,
    ];

    /// As results name it.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Received => "received",
            Outcome::Captured => "captured",
            Outcome::Noise => "noise",
            Outcome::Collision => "collision",
            Outcome::HalfDuplex => "half-duplex",
            Outcome::OutOfReach => "out-of-reach",
            Outcome::Group => "group",
            Outcome::InTheAir => "in-the-air",
        }
    }
}

/// One transmission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transmission {
    /// Its beginning.
    pub start: SimTime,
    /// Time on the air.
    pub airtime: Dur,
    /// Transmitter.
    pub from: NodeId,
    /// Receiver; [`NodeId::BROADCAST`] for all.
    pub to: NodeId,
    /// Its class.
    pub class: FrameClass,
    /// Rate of its body.
    pub rate: BitRate,
    /// Length from header to FCS; of an A-MPDU the whole PSDU.
    pub mpdu: Bytes,
    /// MPDUs in its PSDU.
    pub mpdus: u16,
    /// MPDUs of an A-MPDU that its addressee lost: their part of [`Timeline::lost`].
    lost: Part,
    /// Its Duration field.
    pub duration: Dur,
    /// Sequence number of its MSDU, of several the first; `None` for control frames.
    pub seq: Option<u16>,
    /// The retry bit.
    pub is_retry: bool,
    /// Its own transmit power; `None`: its transmitter's.
    pub tx_power: Option<Dbm>,
    /// Of a QoS data frame.
    pub qos: Option<Qos>,
    /// Of a data frame, of several packets the first.
    pub packet: Option<Carried>,
    /// Its fate at the addressee; `None` if the run was over before it was.
    pub fate: Option<AtAddressee>,
    /// The first transmission that overlapped it at its addressee.
    pub overlap: Option<Overlap>,
    /// With how much it stood there, in mW; `None` where a pair is in reach or not.
    pub power_mw: Option<f64>,
}

/// Begin and length of a part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Part(u32, u16);

/// The packet of a data frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried {
    /// The flow and its direction; [`FlowId::NONE`] for what belongs to none.
    pub flow: FlowId,
    /// Its serial at its transmitter: the same at every attempt, another at the next hop, which has a copy of its own.
    pub serial: u64,
    /// The attempt of its MSDU, counted from 1.
    pub attempt: u8,
    /// Payload of its transport.
    pub payload: u32,
    /// Sequence and acknowledgment number of a TCP segment.
    pub tcp: Option<(u32, u32)>,
}

impl Carried {
    /// The index of its flow, and whether it goes against it: a TCP receiver's segments.
    pub fn of_flow(&self) -> Option<(u32, bool)> {
        (self.flow != FlowId::NONE).then_some((self.flow.connection() as u32, self.flow.is_reverse()))
    }
}

impl Transmission {
    /// Its end, reached or not.
    pub fn end(&self) -> SimTime {
        self.start + self.airtime
    }

    /// Its outcome.
    pub fn outcome(&self) -> Outcome {
        match self.fate {
            None => Outcome::InTheAir,
            Some(_) if self.to == NodeId::BROADCAST => Outcome::Group,
            Some(AtAddressee::Unheard) => Outcome::OutOfReach,
            Some(AtAddressee::Received) if self.overlap.is_some() => Outcome::Captured,
            Some(AtAddressee::Received) => Outcome::Received,
            Some(AtAddressee::Lost(Loss::Noise)) => Outcome::Noise,
            Some(AtAddressee::Lost(Loss::Collision)) => Outcome::Collision,
            Some(AtAddressee::Lost(Loss::HalfDuplex)) => Outcome::HalfDuplex,
        }
    }

    /// MPDUs that its addressee received; `None`: it has none, or the run was over before.
    pub fn received(&self) -> Option<u16> {
        match self.outcome() {
            Outcome::Group | Outcome::InTheAir => None,
            Outcome::Received | Outcome::Captured => Some(self.mpdus - self.lost.1),
            Outcome::Noise | Outcome::Collision | Outcome::HalfDuplex | Outcome::OutOfReach => Some(0),
        }
    }

    /// The cause of its loss.
    pub fn cause(&self) -> Option<LossCause> {
        LossCause::of(self.class, self.fate?, self.overlap)
    }
}

/// A timeline as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The part of the run it covers.
    pub window: Window,
    /// In order of their begin.
    pub transmissions: Vec<Transmission>,
    /// Places of lost MPDUs, of A-MPDUs of which some MPDU was received.
    lost: Vec<u16>,
    /// The number of transmissions beyond the [`Timeline::LIMIT`] first to end.
    pub missed: u64,
}

impl Timeline {
    /// The most transmissions that are kept: 60 to 80 MB.
    pub const LIMIT: usize = 500_000;

    /// An empty one.
    pub(crate) fn new(window: Window) -> Timeline {
        Timeline { window, transmissions: Vec::new(), lost: Vec::new(), missed: 0 }
    }

    /// A transmission that has ended with this fate, or is cut off by the end of the run.
    pub(super) fn put(
        &mut self,
        end: SimTime,
        frame: &Frame,
        fate: Option<(AtAddressee, &Receptions)>,
        channel: &Channel,
        packets: &Packets,
    ) {
        let start = end - frame.airtime;
        if start >= self.window.until || end <= self.window.from {
            return;
        }
        if self.transmissions.len() == Timeline::LIMIT {
            self.missed += 1;
            return;
        }
        let lost = fate.map_or(Part::default(), |(_, to)| self.note_lost(frame, to));
        let data = frame.data();
        let is_single = frame.to != NodeId::BROADCAST;
        let packet = frame.packet().map(|shared| {
            let packet = packets.read(shared);
            Carried {
                flow: packet.flow,
                serial: packets.shared_serial(shared),
                attempt: data.map_or(0, |data| data.attempt),
                payload: packet.payload.len,
                tcp: packet.tcp().map(|tcp| (tcp.seq.0, tcp.ack.0)),
            }
        });
        self.transmissions.push(Transmission {
            start,
            airtime: frame.airtime,
            from: frame.from,
            to: frame.to,
            class: FrameClass::of(frame.kind, frame.label),
            rate: frame.tx.mode.bit_rate(),
            mpdu: frame.psdu.len(),
            mpdus: frame.psdu.mpdus().len() as u16,
            lost,
            duration: frame.duration,
            seq: data.map(|data| data.seq),
            is_retry: data.is_some_and(|data| data.is_retry),
            tx_power: frame.tx.power.level(),
            qos: data.and_then(|data| data.qos),
            packet,
            fate: fate.map(|(fate, _)| fate),
            overlap: channel.first_overlap(frame.from),
            power_mw: is_single.then(|| channel.medium.power_mw(frame.to, frame.from)).flatten(),
        });
    }

    /// Notes the MPDUs of an A-MPDU that its addressee lost, if it received another.
    fn note_lost(&mut self, frame: &Frame, to: &Receptions) -> Part {
        let begin = self.lost.len();
        let own = to.iter().find(|reception| reception.node == frame.to).map(|reception| reception.got);
        if let (true, Some(Got::Mpdus(got))) = (frame.psdu.is_a_mpdu(), own) {
            let places = (0..frame.psdu.mpdus().len()).filter(|place| !got.contains(*place));
            self.lost.extend(places.map(|place| place as u16));
        }
        Part(begin as u32, (self.lost.len() - begin) as u16)
    }

    /// The places of the MPDUs of an A-MPDU that its addressee lost, from 0 on; none of a PSDU that is no A-MPDU.
    pub fn lost(&self, of: &Transmission) -> impl Iterator<Item = u16> {
        let Part(begin, n) = of.lost;
        let all = if of.mpdus > 1 && of.received() == Some(0) { of.mpdus } else { 0 };
        self.lost[begin as usize..][..usize::from(n)].iter().copied().chain(0..all)
    }

    /// In order. A station begins no two transmissions at one instant.
    pub(super) fn finish(mut self) -> Timeline {
        self.transmissions.sort_by_key(|it| (it.start, it.from));
        self
    }
}
