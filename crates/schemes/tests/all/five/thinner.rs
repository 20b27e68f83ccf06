//! The example of docs/design/contract.md: every n-th datagram of UDP is dropped at routers.
use schemes::{Agent, Cx, Info, Kind, Param, Params, Place, Refusal, Site, Value};
use wire::{DropWhy, L4, Pkt};

/// Its declaration.
pub const INFO: Info = Info {
    id: "thinner",
    summary: "routers drop every n-th datagram of UDP",
    source: "none",
    params: &[Param {
        key: "n",
        kind: Kind::Int { min: 2, max: 1000 },
        default: Value::Int(10),
        doc: "which is dropped",
    }],
};

/// At nodes that forward by radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if site.node.forwards && site.node.has_air {
        let agent = Thinner { n: params.int("n") as u64, seen: 0 };
        site.agent(agent).listen([Place::ToAir]).makes_packets();
    }
    Ok(())
}

#[derive(Debug)]
struct Thinner {
    n: u64,
    seen: u64,
}

impl Agent for Thinner {
    fn packet(&mut self, _: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        let is_udp = matches!(cx.get(&pkt).l4, L4::Udp(_));
        self.seen += u64::from(is_udp);
        if is_udp && self.seen.is_multiple_of(self.n) {
            cx.drop(pkt, DropWhy::Scheme);
            return None;
        }
        Some(pkt)
    }

    fn counters(&self, out: &mut dyn FnMut(&'static str, u64)) {
        out("datagrams_dropped", self.seen / self.n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemes::NodeFacts;
    use schemes::testing::{HERE, OUT, bench_of, data, node, with};
    use wire::{Packet, Udp};

    /// The page shows this very file.
    #[test]
    fn the_page_has_this_code() {
        let page = include_str!("../../../../../docs/design/contract.md");
        let own = include_str!("thinner.rs");
        let (_, code) = own.split_once("/// Its declaration.").unwrap();
        let (code, _) = code.split_once("#[cfg(test)]").unwrap();
        assert!(page.contains(code.trim()));
    }

    #[test]
    fn every_second_datagram_is_dropped_and_tcp_passes() {
        let chosen = with(&INFO, install, &[("n", Value::Int(2))]);
        let mut bench = bench_of(&chosen, NodeFacts { forwards: true, ..node(HERE, 3) }).unwrap();
        let datagram = Packet { l4: L4::Udp(Udp::default()), ..data(OUT, 1..1001) };
        assert!(bench.pass(Place::ToAir, data(OUT, 1..1001)).is_some());
        assert!(bench.pass(Place::ToAir, datagram.clone()).is_some() && bench.pass(Place::ToAir, datagram).is_none());
        assert_eq!((bench.counter("datagrams_dropped"), bench.held()), (1, 0));
        assert!(bench_of(&chosen, node(HERE, 3)).is_none(), "a station");
    }
}
