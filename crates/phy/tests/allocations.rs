//! In the steady state a medium with powers allocates nothing, whatever overlaps what and however it fades.

use engine::{Purpose, Streams};
use phy::{Capture, FadingModel, Medium, Ppdu, Sinr, SinrConfig, Standard};
use testkit::alloc::{Counting, calls};
use units::{Db, Dbm, Dur, Hertz, NodeId, SimTime};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const NODES: u32 = 12;

#[test]
fn transmissions_allocate_nothing() {
    // One test: the counter is the process's.
    for fading in [FadingModel::Block(Dur::from_ms(5)), FadingModel::Doppler(Hertz(10.0))] {
        transmissions(fading);
    }
}

fn transmissions(fading: FadingModel) {
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
        fading: Some(fading),
    };
    let mut levels = Sinr::new(NODES as usize, &config, &Streams::new(1));
    for from in (0..NODES).map(NodeId) {
        levels.set_gains(from, |to, _| Db(-50.0 - f64::from((from.0 * 7 + to.0 * 13) % 40)));
    }
    let mut medium = Medium::Sinr(Box::new(levels));
    let mut draws = Streams::new(2).get(Purpose::Traffic, 0);
    let mut airing: [Option<(SimTime, Ppdu)>; NODES as usize] = [None; NODES as usize];
    let (mut clear, mut spoilt, mut before) = (0, 0, 0);
    for step in 0..40_000u64 {
        if step == 20_000 {
            before = calls();
        }
        let now = SimTime::ZERO + Dur::from_us(10 * (step + 1));
        let from = NodeId(draws.below(NODES));
        if let Some((started, ppdu)) = airing[from.index()].take() {
            medium.stop(now, from);
            let ppdu = Ppdu { airtime: now - started, ..ppdu };
            medium.leave(now, &ppdu, |heard| {
                clear += heard.clear.count_ones();
                spoilt += heard.spoilt.count_ones();
            });
        } else if draws.below(4) == 0 {
            medium.start(now, from);
            let rates = Standard::G.modes();
            let rate = rates[draws.below(rates.len() as u32) as usize];
            let ppdu = Ppdu::whole(from, NodeId::BROADCAST, rate.into(), Dur::from_us(300));
            airing[from.index()] = Some((now, ppdu));
            let sense_at = medium.arrive(now, &ppdu, |_| {});
            medium.sense(sense_at, from, |_| {});
        }
    }
    assert_eq!(calls() - before, 0);
    assert!(clear > 1000 && spoilt > 1000 && medium.relocks() > 100, "{clear}, {spoilt}, {}", medium.relocks());
}
