//! DCF+: the MAC ACK of a station that has something to send back works as an RTS for it.
//!
//! - **Source** seed 002, section 4.2.
//! - **Realism** no oracle; one Duration field, read by stations that know nothing of it.
//! - **Departs** only the reservation: the CTS of the acknowledged station and the reverse data without contention are not
//!   here, since no port begins an exchange at an ACK. What is reserved is contended for by the two alone.
//! - **Checked** tests below.

use mac::exchange::{Exchange, Job, Response};
use mac::frame::{self, DATA_HEADER, FCS, LLC_SNAP};
use mac::{Config, Dcf, Frame, Kind, Plan, TxReport};
use phy::airtime;
use schemes::{Agent, Cx, Info, Params, Place, Port, Signal, Site};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use units::{Bytes, NodeId};
use wire::{Packet, Pkt};

pub const INFO: Info = Info {
    id: "dcf-plus",
    summary: "the ACK reserves the medium for the receiver's own data",
    source: "seed 002 section 4.2",
    sits: &[Place::ToAir],
    reads: &[Signal::TxReport],
    turns: &[Port::Exchange],
    params: &[],
};

pub fn build(site: &Site, _: &Params) -> Option<Box<dyn Agent>> {
    site.has_air.then(|| Box::new(DcfPlus::default()) as Box<dyn Agent>)
}

/// What waits in the MAC for each neighbour: frame lengths by serial, oldest first.
type Waiting = Rc<RefCell<BTreeMap<NodeId, BTreeMap<u64, Bytes>>>>;

#[derive(Debug, Default)]
struct DcfPlus {
    waiting: Waiting,
}

impl Agent for DcfPlus {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn packet(&mut self, _: Place, pkt: Pkt, cx: &mut Cx) -> Option<Pkt> {
        if let Some(to) = cx.peer {
            let mpdu = DATA_HEADER + LLC_SNAP + cx.get(&pkt).ip_len() + FCS;
            self.waiting.borrow_mut().entry(to).or_default().insert(cx.serial(&pkt), mpdu);
        }
        Some(pkt)
    }

    fn report(&mut self, _: &Packet, report: &TxReport, _: &mut Cx) {
        if let Some(waiting) = self.waiting.borrow_mut().get_mut(&report.to) {
            waiting.remove(&report.serial);
        }
    }

    fn plan(&mut self) -> Option<Box<dyn Plan>> {
        Some(Box::new(AckAsRts { dcf: Dcf::default(), waiting: Rc::clone(&self.waiting) }))
    }
}

#[derive(Debug)]
struct AckAsRts {
    dcf: Dcf,
    waiting: Waiting,
}

impl Plan for AckAsRts {
    fn exchange(&mut self, config: &Config, job: &Job, exchange: &mut Exchange) {
        self.dcf.exchange(config, job, exchange);
    }

    fn answer(&mut self, config: &Config, heard: &Frame, nav_is_idle: bool) -> Option<Response> {
        let mut response = self.dcf.answer(config, heard, nav_is_idle)?;
        let waiting = self.waiting.borrow();
        let oldest = waiting.get(&heard.from).and_then(|queue| queue.values().next());
        if let (Kind::Ack, Some(&mpdu)) = (response.kind, oldest) {
            // As an RTS: CTS, data and ACK with the three gaps. @80211-2020 9.2.5.2
            let on_air = |rate, mpdu| config.timing.sifs + airtime(rate, mpdu, config.preamble);
            let answer = config.control_rate(response.rate);
            let (cts, ack) = (on_air(answer, frame::CTS), on_air(config.control_rate(config.data_rate), frame::ACK));
            response.duration = cts + on_air(config.data_rate, mpdu) + ack;
        }
        Some(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mac::{Class, Fate};
    use phy::Standard;
    use schemes::testing::{Bench, HERE, OUT, THERE, ack};
    use units::{BitRate, Dur, SimTime};

    const ELSEWHERE: NodeId = NodeId(2);

    /// The Duration field of this station's ACK to data from `from`.
    fn duration(plan: &mut dyn Plan, from: NodeId) -> Dur {
        let config = Config::of(Standard::B, Standard::B.rate(BitRate::from_kbps(11_000)).unwrap());
        let (rate, mpdu) = (config.data_rate, Bytes(1536));
        let data = Frame {
            kind: Kind::Data,
            from,
            to: HERE,
            rate,
            power: None,
            mpdu,
            airtime: airtime(rate, mpdu, config.preamble),
            duration: Dur::from_us(213), // SIFS and an ACK at 11 Mb/s
            seq: 0,
            is_retry: false,
            is_doomed: false,
            class: Class::TcpData,
            qos: None,
        };
        let response = plan.answer(&config, &data, true).unwrap();
        assert_eq!(response.kind, Kind::Ack);
        response.duration
    }

    #[test]
    fn an_ack_reserves_what_the_waiting_packet_takes_and_only_at_the_neighbour_it_waits_for() {
        let mut bench = Bench::new(build(&crate::station(), &Params::default()).unwrap());
        let mut plan = bench.agent_mut().plan().unwrap();
        assert_eq!(duration(&mut *plan, THERE), Dur::ZERO);
        // 76 B at 11 Mb/s are 192 + 56 us, CTS and ACK 192 + 11 us: 10 + 203 + 10 + 248 + 10 + 203.
        let waiting = bench.pass(Place::ToAir, ack(OUT, 1449, 65_535)).unwrap();
        assert_eq!(duration(&mut *plan, THERE), Dur::from_us(684));
        assert_eq!(duration(&mut *plan, ELSEWHERE), Dur::ZERO);
        let now = SimTime::ZERO;
        let (fate, airtime) = (Fate::Delivered, Dur::ZERO);
        let serial = 1; // the first packet of this bench
        let report = TxReport {
            fate,
            serial,
            to: THERE,
            attempts: 1,
            enqueued: now,
            head: now,
            first: now,
            done: now,
            airtime,
            category: 0,
        };
        bench.report_with(&waiting, &report);
        assert_eq!(duration(&mut *plan, THERE), Dur::ZERO);
    }
}
