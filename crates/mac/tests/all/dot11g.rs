//! 802.11g: SIFS 10, slot 9, DIFS 28. A station A that sends at 11 Mb/s, an access point B and a listener C that send at 54 Mb/s;
//! all mandatory rates are basic. Times are µs.
//!
//! A datagram of 1500 B is an MPDU of 1536 B: at 11 Mb/s 192 + ⌈12288 / 11⌉ = 1310, at 54 Mb/s 26 + 4 · ⌈12310 / 216⌉ = 254. An
//! ACK or CTS of 14 B: at 11 Mb/s 192 + ⌈112 / 11⌉ = 203, at 24 Mb/s 26 + 4 · ⌈134 / 96⌉ = 34. An RTS of 20 B: at 11 Mb/s 192 +
//! ⌈160 / 11⌉ = 207, at 24 Mb/s 26 + 4 · ⌈182 / 96⌉ = 34.

use crate::harness::{A, B, Build, C, Net, us};
use mac::{Config, Kind};
use phy::{Mode, Standard};
use units::{Bytes, NodeId};

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
