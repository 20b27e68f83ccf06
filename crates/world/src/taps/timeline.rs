//! The timeline of the air: who transmitted what when, and what became of it at its addressee.

use mac::{AtAddressee, Channel, Frame, Kind, Loss, Overlap, Qos, Station};
use units::{BitRate, Bytes, Dbm, Dur, FlowId, NodeId, SimTime};
use wire::Packets;

/// Which part of a run a timeline covers: what is in the air at some time from `from` on and before `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its begin.
    pub from: SimTime,
    /// Its end.
    pub until: SimTime,
}

/// What may become of a transmission: see [`Transmission::outcome`].
pub const OUTCOMES: [&str; 8] =
    ["received", "captured", "noise", "collision", "transmitter-busy", "out-of-reach", "group", "in-the-air"];

/// One transmission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transmission {
    /// When it began.
    pub start: SimTime,
    /// Time on the air.
    pub airtime: Dur,
    /// Transmitter.
    pub from: NodeId,
    /// Receiver; [`NodeId::BROADCAST`] for all.
    pub to: NodeId,
    /// What it is, as an index into [`mac::FRAME_CLASSES`].
    pub class: usize,
    /// Rate of its body.
    pub rate: BitRate,
    /// Length from header to FCS.
    pub mpdu: Bytes,
    /// Its Duration field.
    pub duration: Dur,
    /// Sequence number of its MSDU; `None` for control frames.
    pub seq: Option<u16>,
    /// The retry bit.
    pub is_retry: bool,
    /// Its own transmit power; `None`: its transmitter's.
    pub tx_power: Option<Dbm>,
    /// Of a QoS data frame.
    pub qos: Option<Qos>,
    /// Of a data frame.
    pub packet: Option<Carried>,
    /// What became of it; `None` if the run was over before it was.
    pub fate: Option<AtAddressee>,
    /// What overlapped it first at its addressee.
    pub overlap: Option<Overlap>,
    /// With how much it stood there, in mW; `None` where a pair is in reach or not.
    pub power_mw: Option<f64>,
}

/// The packet of a data frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried {
    /// Which direction of which flow; [`FlowId::NONE`] for what belongs to none.
    pub flow: FlowId,
    /// Its serial in the arena: the same on every hop and at every attempt.
    pub serial: u64,
    /// Which attempt of its MSDU this is, counted from 1.
    pub attempt: u8,
    /// Payload of its transport.
    pub payload: u32,
    /// Sequence and acknowledgment number of a TCP segment.
    pub tcp: Option<(u32, u32)>,
}

impl Carried {
    /// The index of its flow, and whether it goes against it: a TCP receiver's segments.
    pub fn of_flow(&self) -> Option<(u32, bool)> {
        (self.flow != FlowId::NONE).then_some((self.flow.0 / 2, self.flow.0 % 2 == 1))
    }
}

impl Transmission {
    /// When it ends, or would have ended.
    pub fn end(&self) -> SimTime {
        self.start + self.airtime
    }

    /// Which of [`OUTCOMES`] it came to. *Captured* is received although another transmission overlapped;
    /// *transmitter-busy* means that the addressee transmitted itself.
    pub fn outcome(&self) -> usize {
        match self.fate {
            None => 7,
            Some(_) if self.to == NodeId::BROADCAST => 6,
            Some(AtAddressee::Unheard) => 5,
            Some(AtAddressee::Received) => usize::from(self.overlap.is_some()),
            Some(AtAddressee::Lost(Loss::Noise)) => 2,
            Some(AtAddressee::Lost(Loss::Collision)) => 3,
            Some(AtAddressee::Lost(Loss::Deaf)) => 4,
        }
    }

    /// Which of [`mac::LOSS_CAUSES`] it was lost to.
    pub fn cause(&self) -> Option<usize> {
        match (self.fate, self.overlap) {
            (Some(AtAddressee::Lost(Loss::Noise)), _) => Some(0),
            (Some(AtAddressee::Lost(Loss::Deaf)), _) => Some(7),
            (Some(AtAddressee::Lost(Loss::Collision)), Some(by)) => Some(mac::collision_cause(self.class, by.class)),
            _ => None,
        }
    }
}

/// A timeline as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The part of the run it covers.
    pub window: Window,
    /// In order of their begin.
    pub transmissions: Vec<Transmission>,
    /// How many there were beyond the [`Timeline::LIMIT`] first to end.
    pub missed: u64,
}

impl Timeline {
    /// How many transmissions are kept: 60 to 80 MB.
    pub const LIMIT: usize = 500_000;

    /// An empty one.
    pub(crate) fn new(window: Window) -> Timeline {
        Timeline { window, transmissions: Vec::new(), missed: 0 }
    }

    /// A transmission that has ended with this fate, or is cut off by the end of the run.
    pub(super) fn put(
        &mut self,
        end: SimTime,
        frame: &Frame,
        fate: Option<AtAddressee>,
        channel: &Channel,
        (station, packets): (&Station, &Packets),
    ) {
        let start = end - frame.airtime;
        if start >= self.window.until || end <= self.window.from {
            return;
        }
        if self.transmissions.len() == Timeline::LIMIT {
            self.missed += 1;
            return;
        }
        let (is_data, is_single) = (frame.kind == Kind::Data, frame.to != NodeId::BROADCAST);
        let packet = station.current().filter(|_| is_data).map(|msdu| {
            let packet = packets.get(&msdu.pkt);
            Carried {
                flow: packet.flow,
                serial: msdu.serial,
                attempt: msdu.attempts,
                payload: packet.payload.len,
                tcp: packet.tcp().map(|tcp| (tcp.seq.0, tcp.ack.0)),
            }
        });
        self.transmissions.push(Transmission {
            start,
            airtime: frame.airtime,
            from: frame.from,
            to: frame.to,
            class: mac::tally_index(frame),
            rate: frame.rate.bit_rate,
            mpdu: frame.mpdu,
            duration: frame.duration,
            seq: is_data.then_some(frame.seq),
            is_retry: frame.is_retry,
            tx_power: frame.power,
            qos: frame.qos,
            packet,
            fate,
            overlap: channel.first_overlap(frame.from),
            power_mw: is_single.then(|| channel.medium.power_mw(frame.to, frame.from)).flatten(),
        });
    }

    /// In order. A station begins no two transmissions at one instant.
    pub(super) fn finish(mut self) -> Timeline {
        self.transmissions.sort_by_key(|it| (it.start, it.from));
        self
    }
}
