//! Loss differentiation from MAC reports on a bench: each judgement against the true cause.

use mac::Fate;
use schemes::testing::{Bench, HERE, OUT, bench, data, heard, node};
use schemes::{NodeFacts, Value};
use tcp::{Config, Connection, FlowFacts, Loss, SenderHook};
use wire::{Seq, SeqRange};

struct Station {
    bench: Bench,
    hook: Box<dyn SenderHook>,
    facts: FlowFacts,
}

fn station(timeouts: &'static str) -> Station {
    let mut bench = bench("cross-lda", node(HERE, 2), &[("timeouts", Value::Choice(timeouts))]).unwrap();
    let hook = bench.stack.sender_hook(OUT).unwrap();
    let facts = FlowFacts { snd_max: Seq(1_000_000), ..Connection::listen(Config::default(), 1, 2).facts() };
    Station { bench, hook, facts }
}

impl Station {
    /// The segment with this place, of 1000 bytes, had this fate.
    fn sent(&mut self, i: u32, fate: Fate) {
        self.bench.report(&data(OUT, i * 1000..(i + 1) * 1000), fate);
    }

    fn loss(&mut self, i: u32) -> Loss {
        self.hook.loss(Loss::Congestion, SeqRange::new(Seq(i * 1000), 1000), &self.facts)
    }

    fn acked(&mut self, number: u32) {
        let ack = heard(number, 1000);
        self.hook.on_ack(&ack, &self.facts);
    }
}

#[test]
fn every_loss_is_judged_by_its_true_cause() {
    // Every segment is lost up to three times, for causes in an order of its own: the radio's, the own queue's, the wire's. The MAC
    // reports them as given up, refused and delivered. 300 segments, 600 losses, a third of them the radio's.
    let fates = [Fate::GivenUp, Fate::QueueFull, Fate::Delivered];
    let (mut station, mut agreed, mut of_radio) = (station("judged"), 0, 0);
    for i in 0..300 {
        for nth in 0..i % 3 + 1 {
            let cause = fates[((i * 7 + nth * 2 + i / 3) % 3) as usize];
            station.sent(i, Fate::Attempt);
            station.sent(i, cause);
            let truth = if cause == Fate::GivenUp { Loss::Corruption } else { Loss::Congestion };
            of_radio += u64::from(truth == Loss::Corruption);
            agreed += u32::from(station.loss(i) == truth);
        }
    }
    assert_eq!(agreed, 600);
    assert!((150..=250).contains(&of_radio), "{of_radio}: the order mixes the causes");
    assert_eq!(station.bench.counter("corruptions"), of_radio);
    assert_eq!(station.bench.counter("congestions"), 600 - of_radio);
}

#[test]
fn a_verdict_of_a_hook_before_it_stands_where_it_has_none_of_its_own() {
    let mut station = station("judged");
    let range = SeqRange::new(Seq(0), 1000);
    assert_eq!(station.hook.loss(Loss::Corruption, range, &station.facts), Loss::Corruption);
}

#[test]
fn a_timeout_is_judged_too_unless_told_otherwise() {
    for (timeouts, verdict) in [("judged", Loss::Corruption), ("congestion", Loss::Congestion)] {
        let mut station = station(timeouts);
        station.sent(0, Fate::GivenUp);
        station.hook.on_timeout(&station.facts);
        assert_eq!(station.loss(0), verdict);
        assert_eq!(station.loss(0), Loss::Corruption, "the next loss is found by duplicates");
    }
}

#[test]
fn what_is_acknowledged_is_forgotten_and_a_forged_ack_makes_nothing_forgotten() {
    let mut station = station("judged");
    (0..3).for_each(|i| station.sent(i, Fate::GivenUp));
    station.acked(1000);
    assert_eq!((station.loss(0), station.loss(1)), (Loss::Congestion, Loss::Corruption));
    station.acked(2_000_000);
    assert_eq!(station.loss(2), Loss::Corruption);
}

#[test]
fn segments_of_others_are_none_of_its_business() {
    let mut station = station("judged");
    let mut forwarded = data(OUT, 0..1000);
    forwarded.ip.src = std::net::Ipv4Addr::new(10, 0, 0, 7);
    station.bench.report(&forwarded, Fate::GivenUp);
    assert_eq!(station.loss(0), Loss::Congestion);
}

#[test]
fn it_sits_at_stations_with_an_end_of_flows() {
    let sits = |node: NodeFacts<'static>| bench("cross-lda", node, &[]).is_some();
    let relay = NodeFacts { starts_flows: false, ends_flows: false, ..node(HERE, 2) };
    assert!(sits(node(HERE, 2)) && sits(NodeFacts { starts_flows: true, ..relay }));
    assert!(!sits(relay) && !sits(NodeFacts { has_air: false, ..node(HERE, 2) }));
}
