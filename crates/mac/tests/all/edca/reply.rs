//! A response that begins an exchange: ACK, CTS, data, ACK after data, ACK (`mac::exchange::reply`).
//! @80211-2020 9.2.5 (Duration), 10.3.2.4 (NAV), 10.3.4.4 (retry counters)

use super::harness::*;
use mac::exchange::{Exchange, Job, Response, reply};
use mac::{Body, Config, Dcf, Fate, Frame, Kind, Plan};
use phy::{ErrorModel, Hit};
use units::{Bytes, Dbm, Dur, NodeId};

/// At B an ACK that ends what its receiver has to say asks for the medium; A grants that.
#[derive(Debug)]
struct AckAsRts {
    asks: bool,
    grants: bool,
}

impl Plan for AckAsRts {
    fn exchange(&mut self, config: &Config, job: &Job) -> Exchange {
        Dcf.exchange(config, job)
    }

    fn respond(&mut self, config: &Config, frame: &Frame, nav_is_idle: bool) -> Option<Response> {
        if frame.kind == Kind::Ack {
            let cts = Response::to(config, frame.tx.mode, frame.duration, Kind::Cts, Body::Nothing);
            return (self.grants && nav_is_idle).then_some(cts);
        }
        Dcf.respond(config, frame, nav_is_idle)
    }

    fn replies(&self) -> bool {
        true
    }

    fn reply(&mut self, config: &Config, response: &Frame, job: &Job) -> Option<Exchange> {
        let asks = self.asks && response.kind == Kind::Ack && response.duration == Dur::ZERO;
        asks.then(|| reply(config, response, job))
    }
}

fn net(configs: &[Config]) -> Net {
    let plan = |node| Box::new(AckAsRts { asks: node == B, grants: node == A }) as Box<dyn Plan>;
    net_with_plans(configs, 11, plan)
}

/// Plain data and QoS data, by whether stations have categories; both have CW 0 at first.
fn both() -> [(Config, u64); 2] {
    let mut config = dcf();
    (config.timing.cw_min, config.timing.cw_max) = (0, 1023);
    [(config, PLAIN), (edca_cw(0), QOS)]
}

/// Frames on the air from `from` on: start, transmitter, kind, Duration.
fn log(net: &Net, from: u64) -> Vec<(u64, NodeId, Kind, u64)> {
    let sent = net.sent.iter().filter(|sent| sent.start >= from);
    sent.map(|s| (s.start, s.from, s.frame.kind, s.frame.duration.ns() / 1000)).collect()
}

/// CTS and ACK are as long.
const CTS: u64 = ACK;

/// Duration of an ACK that asks for `data`: SIFS CTS SIFS data SIFS ACK.
fn asked(data: u64) -> u64 {
    SIFS + CTS + SIFS + data + SIFS + ACK
}

/// Frames after data that ends at `end`, whose receiver has `data` to say: start, transmitter, kind, Duration.
fn sequence(end: u64, data: u64) -> [(u64, NodeId, Kind, u64); 4] {
    let ack = end + SIFS;
    let cts = ack + ACK + SIFS;
    let reply = cts + CTS + SIFS;
    [
        (ack, B, Kind::Ack, asked(data)),
        (cts, A, Kind::Cts, asked(data) - SIFS - CTS),
        (reply, B, Kind::Data, SIFS + ACK),
        (reply + data + SIFS, A, Kind::Ack, 0),
    ]
}

/// Start of A's first frame, whose MSDU is queued at 100 on an idle medium: at once, or at the next boundary.
fn first(config: &Config) -> u64 {
    if config.edca.is_some() { 106 } else { 100 }
}

/// Until when C is held back by what it has overheard up to `when`.
fn nav(net: impl Fn() -> Net, when: u64) -> u64 {
    let mut net = net();
    pair(&mut net).run(when);
    net.channel.contention.nav(C).ns() / 1000
}

/// A has one for B; B gets one for A while that is in the air, and would contend for it.
fn pair(net: &mut Net) -> &mut Net {
    net.offer(100, A, B, tos(BE)).offer(200, B, A, tos(BE))
}

#[test]
fn the_whole_sequence_to_the_microsecond_and_the_nav_of_a_third_station() {
    for (config, data) in both() {
        let fresh = || net(&[config.clone(), config.clone(), dcf()]);
        let start = first(&config);
        let end = start + data;
        assert_eq!(nav(fresh, end), end + SIFS + ACK, "what the data announced");
        let over = end + SIFS + ACK + asked(data);
        assert_eq!([0, 200, 480].map(|us| nav(fresh, end + SIFS + ACK + us)), [over; 3], "the ACK has set it");
        let mut net = fresh();
        pair(&mut net).run(9000);
        assert_eq!(log(&net, 0)[0], (start, A, Kind::Data, SIFS + ACK));
        assert_eq!(log(&net, 101)[usize::from(data == QOS)..], sequence(end, data));
        let delivered = [(if data == QOS { BE } else { 0 }, Fate::Delivered, 1)];
        assert_eq!([done(&net, A), done(&net, B)], [delivered; 2]);
        let counters = net.stations[1].counters();
        assert_eq!((counters.exchanges, counters.failures, counters.data_frames_sent), (1, 0, 1));
    }
}

#[test]
fn a_third_station_waits_for_the_end_and_a_difs() {
    for (config, data) in both() {
        let mut third = dcf();
        (third.timing.cw_min, third.timing.cw_max) = (0, 0);
        let mut net = net(&[config.clone(), config.clone(), third]);
        let end = first(&config) + data;
        pair(&mut net).offer(200, C, D, tos(BE)).run(end + 2000);
        let over = end + SIFS + ACK + asked(data);
        assert_eq!(net.data_starts(C)[0], over + DIFS);
    }
}

#[test]
fn each_goes_on_in_contention_with_a_backoff_of_its_own_after_it() {
    // A's next is drawn at the end of its exchange and frozen until the reply is over; B's is drawn at the end of that.
    let (config, data) = (both()[1].0.clone(), QOS);
    let mut net = net(&[config.clone(), config, dcf()]);
    pair(&mut net).offer(201, A, B, tos(BE)).run(9000);
    let over = 106 + data + SIFS + ACK + asked(data);
    // CW is 0 for both: AIFS, and nothing to draw.
    assert_eq!(net.data_starts(A), [106, over + AIFS[1]]);
    assert_eq!(done(&net, A), [(BE, Fate::Delivered, 1); 2]);
}

#[test]
fn without_a_cts_the_ack_stands_and_the_data_contends_like_after_an_rts() {
    for (config, data) in both() {
        let plan = |node| Box::new(AckAsRts { asks: node == B, grants: false }) as Box<dyn Plan>;
        let fresh = || net_with_plans(&[config.clone(), config.clone(), dcf()], 11, plan);
        let mut net = fresh();
        let end = first(&config) + data;
        pair(&mut net).run(9000);
        let sent = log(&net, end);
        let ack = end + SIFS;
        assert_eq!(sent[0], (ack, B, Kind::Ack, asked(data)));
        // Its Duration counts for others only; B counts down a backoff of 0 or 1 slots after the timeout. C holds its NAV: it
        // is an RTS alone whose NAV may be reset (10.3.2.4).
        let (again, from, kind, duration) = sent[1];
        assert_eq!((from, kind, duration), (B, Kind::Data, SIFS + ACK));
        let timeout = ack + ACK + TIMEOUT;
        assert!((timeout..=timeout + 2 * SLOT).contains(&again), "{again} after {timeout}");
        assert_eq!(nav(fresh, again), ack + ACK + asked(data));
        assert!(!net.sent[net.sent.len() - 2].frame.is_retry, "the data frame was not sent before");
        let fates: Vec<_> = done(&net, B).iter().map(|(_, fate, attempts)| (*fate, *attempts)).collect();
        assert_eq!(fates, [(Fate::Delivered, 2)]);
        assert_eq!(done(&net, A).len(), 1, "A has its ACK all the same");
    }
}

/// Errors of data frames alone: control frames suffer none.
const DATA_HIT: ErrorModel = ErrorModel::One(Hit::Packet { per: 1.0, control_per: 0.0 });

#[test]
fn data_that_is_lost_behind_the_cts_is_sent_again_by_contention() {
    for (config, data) in both() {
        let mut net = net(&[config.clone(), config.clone(), dcf()]);
        let end = first(&config) + data;
        let [_, _, (reply, ..), _] = sequence(end, data);
        pair(&mut net).errors(0, B, A, DATA_HIT).errors(reply + data, B, A, CLEAN).run(9000);
        let mut expected = sequence(end, data)[..3].to_vec();
        let sent = log(&net, end);
        let again = sent[3].0;
        // The backoff begins at the timeout; its window is 0 … 1.
        let timeout = reply + data + TIMEOUT;
        assert!((timeout..=timeout + 2 * SLOT).contains(&again), "{again} after {timeout}");
        expected.extend([(again, B, Kind::Data, SIFS + ACK), (again + data + SIFS, A, Kind::Ack, 0)]);
        assert_eq!(sent, expected);
        let retries: Vec<bool> = net.sent.iter().filter(|s| s.from == B).map(|s| s.frame.is_retry).collect();
        assert_eq!(retries, [false, false, true]);
        assert_eq!(net.delivered.iter().filter(|it| it.node == A).count(), 1);
    }
}

#[test]
fn a_lost_last_ack_makes_a_duplicate_that_is_filtered() {
    for (config, data) in both() {
        let mut net = net(&[config.clone(), config.clone(), dcf()]);
        let end = first(&config) + data;
        let last = sequence(end, data)[3].0;
        pair(&mut net).errors(last - 1, A, B, HIT).errors(last + ACK, A, B, CLEAN).run(9000);
        assert_eq!(log(&net, end)[..4], sequence(end, data));
        assert_eq!(net.data_starts(B).len(), 2);
        assert_eq!(net.stations[0].counters().duplicates, 1);
        assert_eq!(net.delivered.iter().filter(|it| it.node == A).count(), 1);
    }
}

#[test]
fn a_lost_ack_costs_both_a_failure_and_the_data_in_front_is_a_duplicate() {
    for (config, data) in both() {
        let mut net = net(&[config.clone(), config.clone(), dcf()]);
        let end = first(&config) + data;
        pair(&mut net).errors(end, B, A, HIT).errors(end + SIFS + ACK + 1, B, A, CLEAN).run(9000);
        assert_eq!([0, 1].map(|i: usize| net.stations[i].counters().failures >= 1), [true; 2]);
        assert_eq!(net.stations[1].counters().duplicates, 1);
        let delivered = [A, B].map(|to| net.delivered.iter().filter(|it| it.node == to).count());
        assert_eq!(delivered, [1, 1]);
    }
}

#[test]
fn behind_rts_and_cts_the_reservation_is_extended_by_the_ack() {
    for (config, data) in both() {
        let mut sender = config.clone();
        sender.rts.threshold = Some(Bytes(1000));
        let fresh = || net(&[sender.clone(), config.clone(), dcf()]);
        let start = first(&config);
        // RTS is 20 B at 24 Mb/s: 22 + 160 bits in symbols of 96, 28 µs.
        let rts = 28;
        let end = start + rts + SIFS + CTS + SIFS + data;
        assert_eq!(nav(fresh, end), end + SIFS + ACK, "what the RTS announced");
        assert_eq!(nav(fresh, end + SIFS + ACK), end + SIFS + ACK + asked(data));
        let mut net = fresh();
        pair(&mut net).run(9000);
        assert_eq!(log(&net, end), sequence(end, data));
        assert_eq!(net.stations[1].counters().rts_sent, 0);
    }
}

#[test]
fn a_station_killed_in_between_leaves_the_other_to_its_contention() {
    for (config, data) in both() {
        for (who, killed) in [(B, 1), (B, 2), (A, 0), (A, 2)] {
            let mut net = net(&[config.clone(), config.clone(), dcf()]);
            let end = first(&config) + data;
            let steps = sequence(end, data);
            // Ten microseconds into the gap before that step.
            pair(&mut net)
                .kill(steps[killed].0 - 6, who)
                .offer(3000, A, B, tos(BE))
                .offer(3000, B, A, tos(BE))
                .run(60_000);
            let sent = log(&net, end);
            let silent = sent.iter().filter(|step| step.1 == who && step.0 >= steps[killed].0 - 6).count();
            assert_eq!(silent, 0, "{who:?} at {killed}: {sent:?}");
            // The survivor tries until its limit and goes on with the next: nothing hangs.
            let other = if who == A { B } else { A };
            let node = other.index();
            assert_eq!(net.stations[node].backlog(), 0, "{who:?} at {killed}: {sent:?}");
            assert_eq!(net.stations[who.index()].backlog(), 0);
        }
    }
}

#[test]
fn with_a_txop_limit_a_reply_is_one_exchange_and_leaves_the_rest_to_an_opportunity_of_its_own() {
    let limited = || {
        let mut config = edca_cw(0);
        category(&mut config, BE).txop_limit = Dur::from_us(10_000);
        config
    };
    let mut net = net(&[edca_cw(0), limited(), dcf()]);
    pair(&mut net).offer(201, B, A, tos(BE)).offer(202, B, A, tos(BE)).run(9000);
    let end = 106 + QOS;
    assert_eq!(log(&net, end)[..4], sequence(end, QOS));
    let over = end + SIFS + ACK + asked(QOS);
    let second = over + AIFS[1];
    assert_eq!(net.data_starts(B), [end + 104, second, second + EXCHANGE + SIFS]);
    assert_eq!(done(&net, B), [(BE, Fate::Delivered, 1); 3]);
}

#[test]
fn the_cts_goes_before_what_the_opportunity_of_the_acknowledged_station_would_still_have() {
    // What is queued after its data frame has begun is not announced, so B takes that frame to be the last.
    let mut config = edca_cw(0);
    category(&mut config, BE).txop_limit = Dur::from_us(10_000);
    let mut net = net(&[config, edca_cw(0), dcf()]);
    pair(&mut net).offer(210, A, B, tos(BE)).run(9000);
    let end = 106 + QOS;
    assert_eq!(log(&net, end)[..4], sequence(end, QOS));
    let over = end + SIFS + ACK + asked(QOS);
    assert_eq!(net.data_starts(A), [106, over + AIFS[1]]);
    // What is announced before is left alone: the ACK that ends it asks.
    let mut config = edca_cw(0);
    category(&mut config, BE).txop_limit = Dur::from_us(10_000);
    let mut net = self::net(&[config, edca_cw(0), dcf()]);
    pair(&mut net).offer(101, A, B, tos(BE)).run(9000);
    assert_eq!(net.data_starts(A), [106, 106 + EXCHANGE + SIFS]);
    let end = 106 + EXCHANGE + SIFS + QOS;
    assert_eq!(log(&net, end), sequence(end, QOS));
    assert_eq!(net.stations[1].counters().failures, 0);
}

#[test]
fn a_station_whose_nav_is_set_answers_and_asks_for_nothing() {
    // C has announced 2 ms to somebody; A has not heard it, or would be silent itself.
    for (config, data) in both() {
        let mut net = net(&[config.clone(), config.clone(), dcf()]);
        net.errors(0, C, A, HIT);
        let cts = frame(Kind::Cts, C, NOBODY, 2000);
        net.air(10, cts);
        // A waits an EIFS after what it took for an error: 38 + 94 and, under EDCA, 9 more.
        pair(&mut net).run(9000);
        let start = net.data_starts(A)[0];
        let end = start + data;
        assert!(end < 2000, "under C's NAV");
        assert_eq!(log(&net, end)[0], (end + SIFS, B, Kind::Ack, 0));
        assert!(net.data_starts(B)[0] > 2038);
    }
}

#[test]
fn an_internal_collision_is_none_of_it_and_the_highest_category_with_something_for_the_neighbour_replies() {
    let config = edca_cw(0);
    let mut net = net(&[config.clone(), config.clone(), config]);
    // B's voice is for C: its best effort and background are for A.
    net.offer(100, A, B, tos(BE))
        .offer(200, B, C, tos(VO))
        .offer(201, B, A, tos(BK))
        .offer(202, B, A, tos(BE))
        .run(9000);
    let end = 106 + QOS;
    assert_eq!(log(&net, end)[..4], sequence(end, QOS));
    let over = end + SIFS + ACK + asked(QOS);
    assert_eq!(data(&net, B)[0].1, BE);
    assert_eq!(data(&net, B)[1], (over + AIFS[3], VO));
    let background = net.stations[1].category_counters().next().expect("background");
    assert_eq!((background.msdus_delivered, background.internal_collisions), (1, 0));
}

/// A scheme's power for data frames.
#[derive(Debug)]
struct Loud;

impl mac::Transmit for Loud {
    fn tx_vector(&mut self, _: &mac::Msdu, _: &wire::Packet, own: phy::TxVector) -> phy::TxVector {
        phy::TxVector { power: phy::TxPower::of(Dbm(30.0)), ..own }
    }
}

#[test]
fn the_ack_goes_at_the_nodes_own_power_whatever_a_scheme_says_of_data() {
    let config = edca_cw(0);
    let mut net = net(&[config.clone(), config, dcf()]);
    net.stations[1].transmit_by(Box::new(Loud));
    pair(&mut net).run(9000);
    let powers: Vec<_> = net.sent.iter().filter(|s| s.from == B).map(|s| (s.frame.kind, s.frame.power)).collect();
    assert_eq!(powers, [(Kind::Ack, None), (Kind::Data, Some(Dbm(30.0)))]);
}
