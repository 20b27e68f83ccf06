//! Virtual carrier sense. @80211-2020 10.3.2.4, 10.3.2.9

use super::harness::*;
use mac::Kind;

/// Time that an RTS for a datagram of 1500 B reserves: three SIFS, CTS, data, ACK.
const RESERVED: u64 = 3 * SIFS + CTS + DATA + ACK;

#[test]
fn an_overheard_rts_holds_a_station_back_until_the_exchange_it_announces_is_over() {
    let mut net = Setup { nodes: 4, ..Setup::default() }.net();
    let rts = frame(Kind::Rts, C, NOBODY, RESERVED);
    let cts = frame(Kind::Cts, D, NOBODY, RESERVED - SIFS - CTS);
    net.air(100, rts).air(100 + RTS + SIFS, cts).enqueue(200, A, B, 1500).run(9000);
    let slots = u64::from(backoffs(A).below(32));
    assert_eq!(net.data_starts(A), [100 + RTS + RESERVED + DIFS + slots * SLOT]);
}

#[test]
fn a_nav_set_by_an_rts_falls_when_no_cts_follows() {
    let mut net = Setup { nodes: 4, ..Setup::default() }.net();
    net.air(100, frame(Kind::Rts, C, NOBODY, RESERVED)).enqueue(200, A, B, 1500).run(9000);
    // 2 SIFS + CTS + aRxPHYStartDelay + 2 slots after the RTS: 20 + 304 + 192 + 40.
    let reset = 100 + RTS + 556;
    let slots = u64::from(backoffs(A).below(32));
    assert_eq!(net.data_starts(A), [reset + DIFS + slots * SLOT]);
}

#[test]
fn a_nav_set_by_data_stays_though_nothing_follows() {
    let mut net = Setup { nodes: 4, ..Setup::default() }.net();
    net.air(100, frame(Kind::Data, C, NOBODY, 5000)).enqueue(200, A, B, 1500).run(12_000);
    let slots = u64::from(backoffs(A).below(32));
    assert_eq!(net.data_starts(A), [100 + DATA + 5000 + DIFS + slots * SLOT]);
}

#[test]
fn a_shorter_duration_does_not_cut_a_nav() {
    let mut net = Setup { nodes: 4, ..Setup::default() }.net();
    net.air(100, frame(Kind::Data, C, NOBODY, 5000)).air(1500, frame(Kind::Ack, D, NOBODY, 10));
    net.enqueue(200, A, B, 1500).run(12_000);
    let slots = u64::from(backoffs(A).below(32));
    assert_eq!(net.data_starts(A), [100 + DATA + 5000 + DIFS + slots * SLOT]);
}

#[test]
fn a_station_answers_an_rts_only_while_its_nav_is_idle() {
    let rts = frame(Kind::Rts, D, B, RESERVED);
    for (nav, answers) in [(5000, 0), (100, 1)] {
        let mut net = Setup { nodes: 4, ..Setup::default() }.net();
        net.air(100, frame(Kind::Data, A, NOBODY, nav)).air(2000, rts).run(9000);
        assert_eq!(net.of(B, Kind::Cts).len(), answers, "NAV until {}", 100 + DATA + nav);
    }
}

#[test]
fn a_station_acknowledges_data_whatever_its_nav_says() {
    // An ACK heeds neither carrier sense nor NAV. @80211-2020 10.3.2.11
    let mut net = Setup { nodes: 4, ..Setup::default() }.net();
    net.air(100, frame(Kind::Data, A, NOBODY, 9000)).air(2000, frame(Kind::Data, D, B, 314)).run(9000);
    assert_eq!(net.of(B, Kind::Ack)[0].start, 2000 + DATA + SIFS);
}
