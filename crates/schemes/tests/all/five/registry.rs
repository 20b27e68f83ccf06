//! Every registered scheme builds; a scheme that does more than it declares is caught in debug builds.

use schemes::testing::Bench;
use schemes::{Params, SCHEMES};

#[test]
fn every_registered_scheme_sits_at_a_plain_station_or_access_point_and_answers_to_its_own_name() {
    for scheme in SCHEMES {
        let params = Params::defaults(scheme.info.params);
        let built: Vec<_> = [crate::five::station(), crate::five::access_point()]
            .iter()
            .filter_map(|site| (scheme.build)(site, &params))
            .collect();
        assert!(!built.is_empty(), "{} sits nowhere", scheme.info.id);
        for agent in built {
            assert_eq!(agent.info().id, scheme.info.id);
            assert_eq!(Bench::new(agent).held(), 0);
        }
    }
}

#[cfg(debug_assertions)]
mod liars {
    use schemes::testing::{Bench, HERE, OUT, data};
    use schemes::{Agent, Cx, Info, Place, Toward};
    use tcp::SenderCommand;
    use wire::Pkt;

    /// Declares a place and nothing else, and does this there.
    #[derive(Debug)]
    struct Liar(fn(&Pkt, &mut Cx));

    static INFO: Info = Info {
        id: "liar",
        summary: "declares nothing",
        source: "none",
        sits: &[Place::ToAir],
        reads: &[],
        turns: &[],
        params: &[],
    };

    impl Agent for Liar {
        fn info(&self) -> &'static Info {
            &INFO
        }

        fn packet(&mut self, _: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
            (self.0)(&pkt, cx);
            Some(pkt)
        }
    }

    fn show(what: fn(&Pkt, &mut Cx)) {
        _ = Bench::new(Box::new(Liar(what))).pass(Place::ToAir, data(OUT, 1..1449));
    }

    #[test]
    #[should_panic(expected = "liar reads QueueRoom and does not declare it")]
    fn reading_the_queue_undeclared_panics() {
        show(|_, cx| _ = cx.room());
    }

    #[test]
    #[should_panic(expected = "liar reads FlowFacts and does not declare it")]
    fn reading_a_flow_undeclared_panics() {
        show(|_, cx| _ = cx.facts(OUT));
    }

    #[test]
    #[should_panic(expected = "liar turns one of")]
    fn rewriting_a_packet_undeclared_panics() {
        show(|pkt, cx| cx.get_mut(pkt).ip.ttl = 1);
    }

    #[test]
    #[should_panic(expected = "liar turns one of [Packets]")]
    fn injecting_a_copy_undeclared_panics() {
        show(|pkt, cx| {
            let copy = cx.copy(pkt);
            cx.inject(copy, Toward::Air(HERE));
        });
    }

    #[test]
    #[should_panic(expected = "liar turns one of [Sender]")]
    fn commanding_a_sender_undeclared_panics() {
        show(|_, cx| cx.command(OUT, SenderCommand::Freeze));
    }
}
