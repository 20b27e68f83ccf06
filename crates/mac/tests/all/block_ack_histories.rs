//! Random histories of block acknowledgment, with grants of the reverse direction and without: whatever is lost of MPDUs, Block Acks, requests, RTS and CTS, what arrives goes up in order
//! and once, what was acknowledged has arrived, every packet is accounted for, and nothing waits for ever. @80211-2020 10.25

use crate::edca::harness::{A, B, Build, C, D, NOBODY, Net, edca, frame};
use crate::harness::{fifo, links};
use crate::reverse::Reversing;
use engine::Streams;
use mac::{AfterSilence, Aggregation, Config, Dcf, Discard, Fate, Kind, Plan, Rts, TxopProtection};
use phy::{ErrorModel, Hit};
use proptest::prelude::*;
use queue::{Limit, Spec};
use std::collections::BTreeMap;
use units::{Bytes, Dur, NodeId};

/// A datagram that is handed down.
#[derive(Debug, Clone, Copy)]
struct Offer {
    when: u64,
    from: NodeId,
    to: NodeId,
    tos: u8,
    size: u32,
}

/// Events of one history.
#[derive(Debug, Clone)]
struct History {
    seed: u64,
    own: Aggregation,
    /// Of the access categories, in µs; 0: none.
    txop: u64,
    protection: TxopProtection,
    rts: bool,
    /// A and B grant each other the reverse direction, so many µs.
    grant: Option<u64>,
    per_receiver: bool,
    /// A discipline that serves flows in turn, so that numbers do not follow the age of MSDUs.
    fair: bool,
    /// Of an MPDU with data, and of any other frame.
    losses: (f64, f64),
    offers: Vec<Offer>,
    /// Starts of signals of a fourth station, 28 µs each, in units of 40 µs.
    jams: Vec<u64>,
    /// Death of a station: time, and which one.
    dies: Option<(u64, NodeId)>,
}

/// Longer than any history: a recipient gives up no gap before its originator has.
const ENDLESS: Dur = Dur::from_secs(100);

fn aggregation() -> impl Strategy<Value = Aggregation> {
    let window = prop_oneof![Just(1u16), Just(2), Just(5), Just(16), Just(64), 1u16..=256, Just(256)];
    let discard = prop_oneof![
        (1u8..6).prop_map(Discard::Attempts),
        (1u64..60).prop_map(|ms| Discard::Lifetime(Dur::from_ms(ms))),
    ];
    let after_silence = prop_oneof![Just(AfterSilence::Data), Just(AfterSilence::Request)];
    let patience = prop_oneof![3 => Just(ENDLESS), 1 => (1u64..100).prop_map(Dur::from_ms)];
    let amsdu = prop_oneof![2 => Just(Bytes::ZERO), 1 => Just(Bytes(3839))];
    let mpdus = prop_oneof![2 => Just(256u16), 1 => 1u16..20];
    (window, mpdus, discard, after_silence, any::<bool>(), patience, amsdu).prop_map(
        |(buffer, mpdus, discard, after_silence, tells_gaps, patience, amsdu)| Aggregation {
            buffer,
            mpdus: mpdus.min(buffer),
            discard,
            after_silence,
            tells_gaps,
            patience,
            amsdu,
            ..Aggregation::VHT
        },
    )
}

fn offer() -> impl Strategy<Value = Offer> {
    let ends = prop_oneof![6 => Just((A, B)), 3 => Just((A, C)), 2 => Just((B, A)), 1 => Just((C, B))];
    // TIDs 0 and 3 share a category; 7 has no agreement.
    let tos = prop_oneof![6 => Just(0x00u8), 2 => Just(0x60), 2 => Just(0xa0), 1 => Just(0xe0)];
    let size = prop_oneof![1 => Just(100u32), 2 => Just(1500)];
    (0u64..12_000, ends, tos, size).prop_map(|(when, (from, to), tos, size)| Offer { when, from, to, tos, size })
}

const PROTECTIONS: [TxopProtection; 3] =
    [TxopProtection::Single, TxopProtection::Multiple, TxopProtection::MultipleCfEnd];

prop_compose! {
    fn history()(
        seed in any::<u64>(), own in aggregation(), txop in prop_oneof![2 => Just(0u64), 1 => 1000u64..4000],
        (rts, protection) in (any::<bool>(), prop::sample::select(PROTECTIONS.to_vec())), grant in prop::option::of(60u64..2000), per_receiver in any::<bool>(), fair in any::<bool>(),
        losses in (prop_oneof![Just(0.0), 0.0..0.95], prop_oneof![Just(0.0), 0.0..0.95]),
        offers in prop::collection::vec(offer(), 1..80), jams in prop::collection::btree_set(1u64..600, 0..40),
        dies in prop::option::weighted(0.2, (0u64..20_000, prop_oneof![Just(A), Just(B), Just(C)])),
    ) -> History {
        let mut offers = offers;
        offers.sort_by_key(|offer| offer.when);
        History { seed, own, txop, protection, rts, grant, per_receiver, fair, losses, offers, jams: jams.into_iter().collect(), dies }
    }
}

impl History {
    fn net(&self) -> Net {
        let config = Config {
            aggregation: Some(self.own),
            rts: Rts { threshold: self.rts.then_some(Bytes(1600)) },
            txop_protection: self.protection,
            ..edca(|edca| edca.categories.iter_mut().for_each(|it| it.txop_limit = Dur::from_us(self.txop)))
        };
        let configs = [0; 4].map(|_| config.clone());
        let errors = ErrorModel::One(Hit::Packet { per: self.losses.0, control_per: self.losses.1 });
        let discipline = queue::find(if self.fair { "fq-codel" } else { "drop-tail" }).expect("a discipline");
        let queue = |spec: &Spec, streams: Streams| {
            let spec = Spec::new(spec.limit, discipline.clone());
            if self.per_receiver { links(&spec, streams) } else { fifo(&spec, streams) }
        };
        let plan = |_| -> Box<dyn Plan> {
            self.grant.map_or_else(
                || Box::new(Dcf) as _,
                |us| Box::new(Reversing { most: Dur::from_us(us), with: &[A, B] }) as _,
            )
        };
        let mut net = Net::build(&Build {
            seed: self.seed,
            limit: Limit::Packets(1000),
            errors,
            queue: &queue,
            plan: &plan,
            ..Build::of(&configs)
        });
        for Offer { when, from, to, tos, size } in &self.offers {
            net.offer_sized(*when, *from, *to, *tos, *size);
        }
        self.jams.iter().for_each(|when| _ = net.air(40 * when, frame(Kind::Ack, D, NOBODY, 0)));
        self.dies.iter().for_each(|(when, node)| _ = net.kill(*when, *node));
        net
    }

    /// Runs it to its end, and looks at what became of each packet.
    fn hold(&self) {
        let mut net = self.net();
        net.run(200_000_000);
        let delivered = by_packet(&net);
        let mut last = BTreeMap::new();
        for it in &net.delivered {
            let Offer { from, to, tos, size, .. } = self.offers[it.nth as usize];
            assert_eq!((it.from, it.node), (from, to), "{} went astray", it.nth);
            let before = last.insert((from, to, tos, if self.fair { size } else { 0 }), it.nth);
            assert!(before.is_none_or(|before| before < it.nth), "{} came after {before:?}", it.nth);
        }
        let dead = self.dies.map(|(_, node)| node);
        let fates: BTreeMap<u32, Fate> = net.finished.iter().copied().collect();
        assert_eq!(fates.len(), net.finished.len(), "a packet has two ends");
        for (nth, offer) in (0..).zip(&self.offers) {
            let Some(fate) = fates.get(&nth) else {
                assert_eq!(dead, Some(offer.from), "{nth} has no end");
                continue;
            };
            let is_excused = dead == Some(offer.to) || self.own.patience != ENDLESS;
            let is_lost = *fate == Fate::Delivered && !delivered.contains_key(&nth);
            assert!(!is_lost || is_excused, "{nth} was acknowledged and is lost");
        }
        let left: u64 = net.stations.iter().map(|station| station.backlog() + station.held()).sum();
        assert_eq!((left, net.packets.live(), net.packets.shared()), (0, 0, 0), "packets left");
    }
}

fn by_packet(net: &Net) -> BTreeMap<u32, u64> {
    net.delivered.iter().map(|it| (it.nth, it.when)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn in_order_once_nothing_lost_that_was_acknowledged_and_books_balance(history in history()) {
        history.hold();
    }
}
