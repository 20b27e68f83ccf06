//! Every registered scheme sits somewhere and asks for something; an agent that does more than its seat asked for is caught in
//! debug builds.

use schemes::survey;
use schemes::testing::{Bench, Ground, aggregating, scheme};

#[test]
fn every_registered_scheme_sits_at_a_plain_station_or_access_point() {
    for id in schemes::NAMES {
        let mut seats = 0;
        for node in [crate::five::station(), crate::five::access_point()] {
            // A refusal names what is missing here: powers, an access point; what goes with Block Acks needs some.
            let plain = Ground::new(node);
            let mut ground = if ["hack", "reverse-direction"].contains(id) {
                plain.with_mac(aggregating(node.standard))
            } else {
                plain
            };
            if ground.install(&scheme(id, &[])).is_ok_and(|sits| sits) {
                assert!(ground.stack.members.iter().all(|member| member.claims.scheme == *id));
                assert_eq!(Bench::new(ground.stack).held(), 0);
                seats += 1;
            }
        }
        let needs_powers = ["capture-qos", "station-aifs"].contains(id);
        assert_eq!(seats == 0, needs_powers, "{id}");
    }
}

#[test]
fn what_a_scheme_reads_and_turns_is_found_out_by_installing_it() {
    let of = |id| survey(schemes::registry().find(id).unwrap());
    let words = |id| {
        let claims = of(id);
        let places: Vec<_> = claims.places().map(|place| format!("{place:?}")).collect();
        let signals: Vec<_> = claims.signals().map(|signal| format!("{signal:?}")).collect();
        let ports: Vec<_> = claims.ports().map(|port| format!("{port:?}")).collect();
        [places.join(" "), signals.join(" "), ports.join(" ")]
    };
    assert_eq!(words("tap"), ["", "TcpHeader", "Classifier Radio"]);
    // With `on_report`, which is off by default.
    assert_eq!(words("snoop"), ["ToAir FromAir", "TxReport TcpHeader QueueRoom", "Packets TcpOptions TxQueue"]);
    assert_eq!(words("eln"), ["ToAir FromAir", "TxReport TcpHeader", "TcpFlags SenderHook"]);
    assert_eq!(words("station-aifs"), ["", "Powers", "Radio Transmit"]);
    assert_eq!(words("dcf-plus"), ["", "Capabilities", "Plan"]);
    for id in schemes::NAMES {
        let claims = of(id);
        assert!(claims.ports().next().is_some(), "{id} turns nothing");
        assert_eq!(claims.scheme, *id);
    }
}

#[cfg(debug_assertions)]
mod liars {
    use schemes::testing::{Bench, HERE, OUT, bench_of, data, with};
    use schemes::{Agent, Cx, Info, Params, Place, Refusal, Site, Toward};
    use tcp::SenderCommand;
    use wire::Pkt;

    /// Asks for a place and nothing else, and does this there.
    #[derive(Debug)]
    struct Liar(fn(&Pkt, &mut Cx));

    static INFO: Info = Info { id: "liar", summary: "asks for nothing", source: "none", params: &[] };

    impl Agent for Liar {
        fn packet(&mut self, _: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
            (self.0)(&pkt, cx);
            Some(pkt)
        }
    }

    fn at_to_air(site: &mut Site, what: fn(&Pkt, &mut Cx)) -> Result<(), Refusal> {
        site.agent(Liar(what)).listen([Place::ToAir]);
        Ok(())
    }

    fn show(install: fn(&mut Site, &Params) -> Result<(), Refusal>) {
        let mut bench: Bench = bench_of(&with(&INFO, install, &[]), crate::five::station()).unwrap();
        _ = bench.pass(Place::ToAir, data(OUT, 1..1449));
    }

    #[test]
    #[should_panic(expected = "liar reads QueueRoom and its seat did not ask for it")]
    fn reading_the_queue_unasked_panics() {
        show(|site, _| at_to_air(site, |_, cx| _ = cx.room()));
    }

    #[test]
    #[should_panic(expected = "liar reads FlowFacts and its seat did not ask for it")]
    fn reading_a_flow_unasked_panics() {
        show(|site, _| at_to_air(site, |_, cx| _ = cx.facts(OUT)));
    }

    #[test]
    #[should_panic(expected = "liar turns one of")]
    fn rewriting_a_packet_unasked_panics() {
        show(|site, _| at_to_air(site, |pkt, cx| cx.get_mut(pkt).ip.ttl = 1));
    }

    #[test]
    #[should_panic(expected = "liar turns one of [Packets]")]
    fn injecting_a_copy_unasked_panics() {
        show(|site, _| {
            at_to_air(site, |pkt, cx| {
                let copy = cx.copy(pkt);
                cx.inject(copy, Toward::Air(HERE));
            })
        });
    }

    #[test]
    #[should_panic(expected = "liar turns one of [Sender]")]
    fn commanding_a_sender_unasked_panics() {
        show(|site, _| at_to_air(site, |_, cx| cx.command(OUT, SenderCommand::Freeze)));
    }
}
