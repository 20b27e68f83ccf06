//! The fates of the MPDUs of A-MPDUs: on a bench, and in a run over a channel that loses some of them.

use four::mpdu_fates::{INFO, install};
use mac::{Fate, InPpdu};
use schemes::testing::{HERE, OUT, bench_of, data, node, with};
use world::FrameClass;

#[test]
fn fates_are_counted_by_ppdu_and_only_of_several_mpdus() {
    let mut bench = bench_of(&with(&INFO, install, &[]), node(HERE, 2)).expect("it sits at a radio");
    let packet = data(OUT, 1..1449);
    let mut tell = |fate, number, place, mpdus| {
        let mut packets = wire::Packets::with_capacity(1);
        let pkt = packets.put(packet.clone());
        let msdu = mac::Msdu::new(bench.now, pkt, &packets, schemes::testing::THERE, 0);
        let ppdu = InPpdu { number, place, mpdus, mode: phy::Standard::A.modes()[7] };
        bench.report_with(&packet, &msdu.report(bench.now, fate, Some(ppdu)));
    };
    tell(Fate::Delivered, 1, 0, 1);
    for (place, fate) in [Fate::Delivered, Fate::Attempt, Fate::Delivered].into_iter().enumerate() {
        tell(fate, 2, place as u16, 3);
    }
    tell(Fate::Attempt, 3, 0, 2);
    tell(Fate::Attempt, 3, 1, 2);
    tell(Fate::GivenUp, 3, 1, 2);
    let counts =
        ["mpdus_delivered", "mpdus_failed", "msdus_given_up", "ppdus", "ppdus_told_whole", "ppdus_delivered_in_part"];
    assert_eq!(counts.map(|name| bench.counter(name)), [2, 3, 1, 2, 2, 1]);
}

#[test]
fn every_mpdu_of_every_a_mpdu_is_told_of() {
    let (run, timeline) = four::run(
        r#"
        scenario = { duration = "2 s" }
        radio = { standard = "802.11a", access = "edca" }
        channel = { errors = { model = "packet", per = 0.2 } }
        node = [{ name = "ap", role = "ap" }, { name = "laptop" }]
        flow = [{ from = "laptop", to = "ap", traffic = { model = "cbr", rate = "100 Mb/s" }, transport = { protocol = "udp" } }]
        scheme = [{ name = "mpdu-fates", mpdus = 8 }]
        "#,
    );
    let told = |name: &str| run.scheme("mpdu-fates", name);
    let [delivered, failed, ppdus] = ["mpdus_delivered", "mpdus_failed", "ppdus"].map(told);
    assert!(ppdus > 500.0, "{ppdus}");
    assert_eq!(told("ppdus_told_whole"), ppdus);
    assert_eq!(told("msdus_given_up"), 0.0);
    // More is offered than the air takes, so nearly all have eight. (`saturated` keeps too few waiting.)
    assert!((delivered + failed) / ppdus > 7.5, "{delivered} + {failed} in {ppdus}");
    // Each MPDU has a draw of its own behind one for the front: lost with 0.2, give or take the front's.
    let lost = failed / (delivered + failed);
    assert!((0.18..0.22).contains(&lost), "{lost}");
    // All eight survive with 0.8^8 = 0.17, all are lost with next to nothing.
    let in_part = told("ppdus_delivered_in_part") / ppdus;
    assert!((0.78..0.88).contains(&in_part), "{in_part}");
    // A Block Ack for each PPDU of which something was received.
    let block_acks = timeline.transmissions.iter().filter(|sent| sent.class == FrameClass::BlockAck).count() as f64;
    assert!((block_acks - ppdus).abs() <= 2.0, "{block_acks} for {ppdus}");
}
