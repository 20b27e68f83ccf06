//! 802.11g: SIFS 10, slot 9, DIFS 28. A station A that sends at 11 Mb/s, an access point B and a listener C that send at 54 Mb/s;
//! all mandatory rates are basic. Times are µs.
//!
//! A datagram of 1500 B is an MPDU of 1536 B: at 11 Mb/s 192 + ⌈12288 / 11⌉ = 1310, at 54 Mb/s 26 + 4 · ⌈12310 / 216⌉ = 254. An
//! ACK or CTS of 14 B: at 11 Mb/s 192 + ⌈112 / 11⌉ = 203, at 24 Mb/s 26 + 4 · ⌈134 / 96⌉ = 34. An RTS of 20 B: at 11 Mb/s 192 +
//! ⌈160 / 11⌉ = 207, at 24 Mb/s 26 + 4 · ⌈182 / 96⌉ = 34.

use crate::harness::{A, B, Build, C, D, NOBODY, Net, backoffs_of, us};
use mac::{Config, ControlModes, Fate, Kind, Protection};
use phy::{Mode, Standard};
use units::{Bytes, Dur, NodeId};

const SIFS: u64 = 10;
const DSSS: Mode = Mode::dsss(3);
const OFDM: Mode = Mode::erp_ofdm(7);

fn configs(rts_threshold: Option<u64>) -> [Config; 3] {
    [DSSS, OFDM, OFDM].map(|mode| {
        let mut config = Config::of(Standard::G, mode);
        config.rts.threshold = rts_threshold.map(Bytes);
        config
    })
}

/// A frame: kind, mode, start, airtime, Duration.
type Line = (Kind, Mode, u64, u64, u64);

/// Frames in order.
fn sent(net: &Net) -> Vec<Line> {
    let line = |it: &crate::harness::Sent| {
        (it.kind, it.frame.mode, it.start, it.end - it.start, it.frame.duration.ns() / 1000)
    };
    net.sent.iter().map(line).collect()
}

fn exchange(rts_threshold: Option<u64>, from: NodeId, to: NodeId) -> (Net, Vec<Line>) {
    let mut net = Net::build(&Build::of(&configs(rts_threshold)));
    net.enqueue(100, from, to, 1500);
    net.run(5000);
    let sent = sent(&net);
    (net, sent)
}

#[test]
fn a_frame_of_dsss_is_acknowledged_by_one_of_dsss_whatever_rate_the_recipient_sends_at() {
    let (net, frames) = exchange(None, A, B);
    let ack = 100 + 1310 + SIFS;
    assert_eq!(frames, [(Kind::Data, DSSS, 100, 1310, SIFS + 203), (Kind::Ack, DSSS, ack, 203, 0)]);
    // Nobody waits for anything behind it.
    assert_eq!(us(net.channel.contention.nav(C)), ack + 203);
}

#[test]
fn a_frame_of_ofdm_is_acknowledged_by_one_of_ofdm_whatever_rate_the_recipient_sends_at() {
    let (net, frames) = exchange(None, B, A);
    let (data, ack) = (Mode::erp_ofdm(7), Mode::erp_ofdm(4));
    assert_eq!(frames, [(Kind::Data, data, 100, 254, SIFS + 34), (Kind::Ack, ack, 100 + 254 + SIFS, 34, 0)]);
    assert_eq!(us(net.channel.contention.nav(C)), 100 + 254 + SIFS + 34);
}

#[test]
fn a_response_announces_what_its_frame_announced_less_a_sifs_and_itself_and_the_last_one_nothing() {
    // RTS, CTS, data, ACK all in one class.
    for (from, to, [rts, cts, data, ack], control, mode) in
        [(A, B, [207, 203, 1310, 203], DSSS, DSSS), (B, A, [34, 34, 254, 34], Mode::erp_ofdm(4), OFDM)]
    {
        let (_, frames) = exchange(Some(0), from, to);
        let begins = [100, 100 + rts + SIFS, 100 + rts + cts + 2 * SIFS, 100 + rts + cts + data + 3 * SIFS];
        let announced = cts + data + ack + 3 * SIFS;
        assert_eq!(
            frames,
            [
                (Kind::Rts, control, begins[0], rts, announced),
                (Kind::Cts, control, begins[1], cts, announced - SIFS - cts),
                (Kind::Data, mode, begins[2], data, SIFS + ack),
                (Kind::Ack, control, begins[3], ack, 0),
            ]
        );
    }
}

/// A cell with stations of 802.11b: A is one, as is D; B and C send at 54 Mb/s. Slots are long: DIFS 50. Basic rates are those of
/// 802.11b; protecting frames go at 1 Mb/s: RTS 192 + 160 = 352, CTS 192 + 112 = 304.
fn mixed(protection: Option<Protection>) -> Net {
    let configs = [Standard::B, Standard::G, Standard::G, Standard::B].map(|standard| {
        let mut config = Config::of(standard, if standard == Standard::B { DSSS } else { OFDM });
        let basic: Vec<Mode> = (0..4).map(Mode::dsss).collect();
        config.control_modes = ControlModes::of(&config.modes, &basic).with_rts(basic[0]);
        config.timing.slot = Dur::from_us(20);
        config.protection = protection;
        config
    });
    let mut net = Net::build(&Build::of(&configs));
    [A, D].into_iter().for_each(|node| net.channel.set_unknown(node, &phy::format::ERP_OFDM, false));
    net
}

#[test]
fn a_cts_to_self_sets_the_nav_of_those_who_cannot_read_the_data() {
    let mut net = mixed(Some(Protection::CtsToSelf));
    net.enqueue(100, B, C, 1500).enqueue(500, A, B, 1500).run(10_000);
    let (data, cts_end) = (100 + 304 + SIFS, 100 + 304);
    let announced = SIFS + 254 + SIFS + 34;
    let end = data + 254 + SIFS + 34;
    assert_eq!(
        sent(&net)[..3],
        [
            (Kind::Cts, Mode::dsss(0), 100, 304, announced),
            (Kind::Data, OFDM, data, 254, SIFS + 34),
            (Kind::Ack, Mode::erp_ofdm(4), data + 254 + SIFS, 34, 0),
        ]
    );
    assert_eq!((net.sent[0].frame.to, cts_end + announced), (B, end));
    assert_eq!(
        us(net.channel.contention.nav(D)),
        end + 1310 + SIFS + 203 + wait(&net, end),
        "and then that of A's frame"
    );
    // A was handed its datagram while the data were on the air, which it senses as energy: it waits for the end of the NAV, a
    // DIFS and its backoff, and no EIFS.
    let slots = u64::from(backoffs_of(A, 0).below(32));
    assert_eq!(net.sent[3].start, end + 50 + slots * 20);
    assert_eq!(net.stations[1].counters().msdus_delivered, 1);
    assert_eq!(net.done(B), [(Fate::Delivered, 1)]);
}

/// From `end` to the start of the frame that follows.
fn wait(net: &Net, end: u64) -> u64 {
    net.sent[3].start - end
}

#[test]
fn unprotected_data_are_energy_to_a_station_of_802_11b_and_an_overlooked_nav() {
    let mut net = mixed(None);
    net.enqueue(100, B, C, 1500).enqueue(120, A, B, 1500).run(10_000);
    assert_eq!(sent(&net)[0], (Kind::Data, OFDM, 100, 254, SIFS + 34));
    assert_eq!(
        us(net.channel.contention.nav(D)),
        us(net.channel.contention.nav(C)),
        "only by A's frame, which all can read"
    );
    // C's ACK came a SIFS after; then a DIFS and the backoff that A drew. No EIFS: OFDM is no frame in error.
    let slots = u64::from(backoffs_of(A, 0).below(32));
    assert_eq!(net.sent[2].start, 100 + 254 + SIFS + 34 + 50 + slots * 20);
}

#[test]
fn rts_and_cts_protect_whatever_the_length_and_frames_of_dsss_need_no_protection() {
    let mut net = mixed(Some(Protection::RtsCts));
    net.enqueue(100, B, C, 100).run(10_000);
    // 136 B at 54 Mb/s: 26 + 4 · ⌈1110 / 216⌉ = 50.
    let announced = 304 + 50 + 34 + 3 * SIFS;
    assert_eq!(
        sent(&net),
        [
            (Kind::Rts, Mode::dsss(0), 100, 352, announced),
            (Kind::Cts, Mode::dsss(0), 462, 304, announced - SIFS - 304),
            (Kind::Data, OFDM, 776, 50, SIFS + 34),
            (Kind::Ack, Mode::erp_ofdm(4), 836, 34, 0),
        ]
    );
    for protection in [Protection::CtsToSelf, Protection::RtsCts] {
        let mut net = mixed(Some(protection));
        net.enqueue(100, A, B, 1500).run(10_000);
        assert_eq!(sent(&net).iter().map(|line| line.0).collect::<Vec<_>>(), [Kind::Data, Kind::Ack]);
    }
}

#[test]
fn data_behind_a_cts_to_self_that_are_not_acknowledged_go_again_behind_another_one() {
    let mut net = mixed(Some(Protection::CtsToSelf));
    net.enqueue(100, B, NOBODY, 1500).run(100_000);
    let kinds: Vec<Kind> = net.sent.iter().map(|sent| sent.kind).collect();
    assert_eq!(kinds, [Kind::Cts, Kind::Data].repeat(7));
    assert_eq!(net.done(B), [(Fate::GivenUp, 7)]);
    // SIFS 10 + slot 20 + 25 after the end of the data the ACK has not begun; a DIFS of idle has passed.
    let mut draws = backoffs_of(B, 0);
    let slots = u64::from(draws.below(32)); // cw 31 after the first failure: 2 · 15 + 1
    assert_eq!(net.sent[2].start, net.sent[1].end + 10 + 20 + 25 + slots * 20);
}
