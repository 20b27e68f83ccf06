//! A scheme's say in interframe space, rate and power of each frame, and opportunities counted in exchanges.

use super::harness::*;
use mac::{Fate, Kind, Msdu, Transmit};
use phy::{Mode, Standard, TxPower, TxVector};
use units::{BitRate, Dbm, Dur};
use wire::Packet;

/// Each MSDU by how many came to the head before it.
#[derive(Debug, Default)]
struct ByTurn {
    aifsns: Vec<u8>,
    turn: usize,
}

impl Transmit for ByTurn {
    fn aifsn(&mut self, _: &Msdu, _: &Packet, own: u8) -> u8 {
        self.turn += 1;
        self.aifsns.get(self.turn - 1).copied().unwrap_or(own)
    }
}

#[test]
fn the_frame_at_the_head_of_the_line_decides_the_interframe_space() {
    // B's frame ends at 500: AIFS is 16 + 9 AIFSN, and CW 0 draws nothing.
    for (aifsns, first, second) in
        [(vec![2, 5], 34, 61), (vec![5, 2], 61, 34), (vec![], 43, 43), (vec![0, 3], 25, 43)]
    {
        let mut net = net_of(&[edca_cw(0), edca_cw(0), dcf()]);
        net.stations[0].transmit_by(Box::new(ByTurn { aifsns, turn: 0 }));
        let busy = frame(Kind::Data, C, NOBODY, 0);
        let end = 50 + busy.airtime.ns() / 1000;
        net.air(50, busy).offer(100, A, B, tos(BE)).offer(101, A, B, tos(BE)).run(9000);
        assert_eq!(net.data_starts(A), [end + first, end + first + EXCHANGE + second]);
        assert_eq!(done(&net, A), [(BE, Fate::Delivered, 1); 2]);
    }
}

#[test]
fn under_dcf_the_difs_is_replaced() {
    let mut config = dcf();
    (config.timing.cw_min, config.timing.cw_max) = (0, 0);
    let mut net = net_of(&[config, dcf(), dcf()]);
    net.stations[0].transmit_by(Box::new(ByTurn { aifsns: vec![4], turn: 0 }));
    let busy = frame(Kind::Data, C, NOBODY, 0);
    let end = 50 + busy.airtime.ns() / 1000;
    net.air(50, busy).offer(100, A, B, tos(BE)).run(9000);
    assert_eq!(net.data_starts(A), [end + 52]);
}

/// 24 Mb/s and 3 dBm at the first attempt, 6 Mb/s and the node's own power after it.
#[derive(Debug)]
struct Slower;

fn rate(kbps: u64) -> Mode {
    Standard::A.mode(BitRate::from_kbps(kbps)).expect("a rate of 802.11a")
}

impl Transmit for Slower {
    fn tx_vector(&mut self, msdu: &Msdu, _: &Packet, own: TxVector) -> TxVector {
        match msdu.attempts {
            0 => TxVector { mode: rate(24_000), power: TxPower::of(Dbm(3.0)), ..own },
            _ => TxVector { mode: rate(6000), ..own },
        }
    }
}

#[test]
fn rate_and_power_are_asked_at_each_attempt_and_go_into_the_frame() {
    let mut net = net_of(&[edca_cw(0), edca_cw(0)]);
    net.stations[0].transmit_by(Box::new(Slower));
    net.errors(0, A, B, HIT).errors(660, A, B, CLEAN).offer(100, A, B, tos(BE)).run(9000);
    let data: Vec<_> = net.sent.iter().filter(|sent| sent.from == A).map(|sent| sent.frame).collect();
    let facts: Vec<_> = data.iter().map(|frame| (frame.mode, frame.power)).collect();
    assert_eq!(facts, [(rate(24_000), Some(Dbm(3.0))), (rate(6000), None)]);
    // 22 + 8 · 1538 = 12326 bits in symbols of 96 and 24.
    let airtimes: Vec<u64> = data.iter().map(|frame| frame.airtime.ns() / 1000).collect();
    assert_eq!(airtimes, [20 + 4 * 129, 20 + 4 * 514]);
    let ack = net.sent.iter().find(|sent| sent.from == B).expect("a response").frame;
    assert_eq!((ack.mode, ack.power), (rate(6000), None), "a response goes at the receiver's own power");
}

#[test]
fn an_opportunity_counted_in_exchanges_needs_no_limit_and_ends_with_its_count() {
    let mut config = edca_cw(0);
    category(&mut config, VO).txop_exchanges = 3;
    assert_eq!(category(&mut config, VO).txop_limit, Dur::ZERO);
    let mut net = net_of(&[config, edca_cw(0), dcf()]);
    for i in 0..4 {
        net.offer(100 + i, A, B, tos(VO));
    }
    net.run(9000);
    let step = EXCHANGE + SIFS;
    assert_eq!(net.data_starts(A), [106, 106 + step, 106 + 2 * step, 106 + 2 * step + EXCHANGE + 34]);
    let durations: Vec<u64> = net.sent.iter().filter(|s| s.from == A).map(|s| s.frame.duration.ns() / 1000).collect();
    let (alone, announcing) = (SIFS + ACK, SIFS + ACK + SIFS + EXCHANGE);
    assert_eq!(durations, [announcing, announcing, alone, alone]);
}
