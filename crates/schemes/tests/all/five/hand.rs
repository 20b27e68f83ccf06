//! One station of 802.11a whose air is played by hand: what it sends is looked at, what it hears is made up.

use engine::{Purpose, Streams};
use mac::testing::ByHand;
use mac::{
    Body, Config, ContenderId, Dcf, Fifo, Frame, Got, Input, Kind, Label, Mpdu, MpduSet, Msdu, Output, Psdu, Station,
    TxQueue,
};
use phy::{Mode, Standard};
use queue::{Limit, Spec};
use schemes::testing::{HERE, OUT, THERE, data};
use units::{BitRate, Bytes, Dur, SimTime};
use wire::Packets;

pub fn at(us: u64) -> SimTime {
    SimTime::ZERO + Dur::from_us(us)
}

pub fn mode(mbps: u64) -> Mode {
    Standard::A.mode(BitRate::from_kbps(mbps * 1000)).unwrap()
}

/// A frame that it has sent: kind, bit rate in Mb/s, start, airtime and Duration field in µs, MPDUs.
pub type Sent = (Kind, u64, u64, u64, u64, usize);

/// The station at `HERE`, under DCF.
pub struct Hand {
    pub station: Station,
    pub packets: Packets,
    pub said: Vec<Output>,
    air: ByHand,
}

impl Hand {
    pub fn new() -> Hand {
        let (config, draws) = (Config::of(Standard::A, mode(54)), Streams::new(1).get(Purpose::Queue, 0));
        let queue: Box<dyn TxQueue> = Box::new(Fifo::new(&Spec::drop_tail(Limit::Packets(999)), Bytes(1500), draws));
        let station = Station::new(HERE, &[0; 3], ContenderId(0), config, vec![queue], Box::new(Dcf));
        Hand { station, packets: Packets::default(), said: Vec::new(), air: ByHand::default() }
    }

    pub fn tell(&mut self, us: u64, input: Input<'_>) {
        self.station.handle(at(us), input, &mut self.air, &mut self.packets, &mut self.said);
    }

    /// It is given `n` segments of 1460 B for `THERE`: MPDUs of 1536 B.
    pub fn enqueue(&mut self, n: u32) {
        for i in 0..n {
            let pkt = self.packets.put(data(OUT, i * 1460..(i + 1) * 1460));
            let msdu = Msdu::new(at(0), pkt, &self.packets, THERE, 0);
            self.tell(0, Input::Enqueue(msdu));
        }
    }

    /// The frame that it has put on the air at `start`; the instant at which that ends.
    fn sent(&mut self, start: u64) -> (Sent, u64) {
        let frame = self.air.sent.pop().expect("it has sent a frame");
        let us = |dur: Dur| dur.ns() / 1000;
        let rate = frame.tx.mode.bit_rate().bps() / 1_000_000;
        let airtime = us(frame.airtime);
        let line = (frame.kind, rate, start, airtime, us(frame.duration), frame.psdu.mpdus().len());
        frame.release(&mut self.packets);
        self.tell(start + airtime, Input::Sent);
        (line, start + airtime)
    }

    /// It is granted the air at `start`; what it sends, and when that ends.
    pub fn grant(&mut self, start: u64) -> (Sent, u64) {
        self.tell(start, Input::Granted);
        self.sent(start)
    }

    /// Nobody answers what ended last: the timer goes off.
    pub fn timeout(&mut self) {
        let (when, _) = self.station.next_wakeup();
        self.tell(when.ns() / 1000, Input::Timer);
    }

    /// `THERE` answers: a SIFS after `end` begins a response that takes 28 µs and 44 µs below 24 Mb/s. Returns when it is over.
    pub fn answer(&mut self, end: u64, kind: Kind, body: Body, mbps: u64) -> u64 {
        let over = end + 16 + if mbps < 24 { 44 } else { 28 };
        let psdu = Psdu::One(Mpdu { len: kind.control_len(), body });
        let (airtime, tx) = (Dur::ZERO, mode(mbps).into());
        let (duration, label) = (Dur::ZERO, Label::default());
        let frame = Frame { kind, from: THERE, to: HERE, tx, airtime, duration, label, psdu };
        self.tell(over, Input::Ended(&frame, Got::Mpdus(&MpduSet::ONE)));
        over
    }

    /// A SIFS after a CTS that is over: what it sends, and when that ends.
    pub fn after_sifs(&mut self, over: u64) -> (Sent, u64) {
        self.tell(over + 16, Input::Timer);
        self.sent(over + 16)
    }
}
