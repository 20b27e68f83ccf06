//! Time a transmission takes in the medium, from its start to its end at all listeners: `cargo bench -p interlayer-phy`.
//! Budget: one pass over the listeners at the start and one at the end, nothing allocated.

use engine::Streams;
use phy::{Capture, FadingModel, Medium, Ppdu, Sinr, SinrConfig, Standard};
use std::hint::black_box;
use units::{BitRate, Db, Dbm, Dur, Hertz, NodeId, SimTime};

/// Everybody hears everybody, at levels from −50 to −80 dBm.
fn levels(nodes: usize, fading: Option<FadingModel>) -> Medium {
    let config = SinrConfig {
        power: Dbm(0.0),
        noise: Dbm(-95.0),
        floor: Db(10.0),
        cca_ed: Dbm(-62.0),
        cca_preamble_latency: Dur::from_us(4),
        preamble_sinr: Db(4.0),
        capture: Some(Capture { clear: Db(10.0), garbled: Db(15.0) }),
        interference: phy::Interference::Noise,
        curve: phy::ln_survival,
        fading,
    };
    let mut levels = Sinr::new(nodes, &config, &Streams::new(1));
    for from in (0..nodes as u32).map(NodeId) {
        levels.set_gains(from, |to, _| Db(-50.0 - f64::from((from.0 * 7 + to.0 * 13) % 31)));
    }
    Medium::Sinr(Box::new(levels))
}

struct Turn {
    medium: Medium,
    nodes: u32,
    now: SimTime,
    at: u32,
}

impl Turn {
    /// The next station transmits, data and answers in turn; if `overlapped`, one after it does 50 µs later.
    fn transmit(&mut self, overlapped: bool) -> u32 {
        let rate = Standard::A.mode(BitRate::from_kbps(54_000)).expect("a rate of 802.11a");
        self.at += 1;
        let airtime = Dur::from_us(if self.at.is_multiple_of(2) { 248 } else { 28 });
        let nodes = self.nodes;
        let ppdu = |from| Ppdu::whole(NodeId(from % nodes), NodeId::BROADCAST, rate.into(), airtime);
        let first = ppdu(self.at / 2);
        let mut told = self.start(&first);
        let begun = self.now;
        let mut also = None;
        if overlapped {
            self.now += Dur::from_us(20);
            let second = ppdu(self.at / 2 + 1);
            told += self.start(&second);
            also = Some((second, self.now));
        }
        self.now = begun + airtime;
        told += self.end(&first);
        if let Some((second, begun)) = also {
            self.now = begun + airtime;
            told += self.end(&second);
        }
        self.now += Dur::from_us(100);
        told
    }

    fn start(&mut self, ppdu: &Ppdu) -> u32 {
        let mut told = 0;
        self.medium.start(self.now, ppdu.from);
        let sense_at = self.medium.arrive(self.now, ppdu, |nodes| told += nodes.bits.count_ones());
        if sense_at != SimTime::NEVER {
            self.medium.sense(sense_at, ppdu.from, |nodes| told += nodes.bits.count_ones());
        }
        told
    }

    fn end(&mut self, ppdu: &Ppdu) -> u32 {
        let mut told = 0;
        self.medium.stop(self.now, ppdu.from);
        self.medium.leave(self.now, ppdu, |heard| told += heard.turns_idle.count_ones());
        told
    }
}

fn main() {
    for nodes in [6u32, 50] {
        let all = nodes as usize;
        let scenes = [
            ("reach", Medium::new(all), false),
            ("levels", levels(all, None), false),
            ("levels, Rayleigh", levels(all, Some(FadingModel::Block(Dur::from_ms(10)))), false),
            ("levels, Doppler", levels(all, Some(FadingModel::Doppler(Hertz(10.0)))), false),
            ("reach, overlapped", Medium::new(all), true),
            ("levels, overlapped", levels(all, None), true),
        ];
        for (name, medium, overlapped) in scenes {
            let mut turn = Turn { medium, nodes, now: SimTime::ZERO + Dur::from_us(1), at: 0 };
            testkit::bench::fastest(&format!("{name}, {nodes} stations"), "transmission", || {
                black_box(turn.transmit(overlapped));
                if overlapped { 2 } else { 1 }
            });
        }
    }
}
