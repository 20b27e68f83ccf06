//! Time series: congestion windows, round-trip times, gauges of controllers, queues, at equal intervals.

use super::ids::{QueueIds, category_id};
use crate::flow::Flow;
use crate::interface::Interface;
use crate::record::mean_s;
use net::Wire;
use tcp::cc::Probe;
use units::{Bytes, Dur, SimTime};

/// One time series.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// `flow.download.cwnd_bytes`, `queue.ap.air.packets`.
    pub name: String,
    /// Instants, in seconds.
    pub t_s: Vec<f64>,
    /// Values, in the unit of the name.
    pub value: Vec<f64>,
}

/// Values sampled at equal intervals.
#[derive(Debug)]
pub(crate) struct Series {
    pub(super) every: Dur,
    pub(super) columns: Vec<Column>,
    queues: QueueIds,
    before: Vec<Before>,
}

/// The counters of a flow at the sample before.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    payload: u64,
    latency: (Dur, u64),
}

impl Before {
    /// The mean latency of what has arrived since, in seconds; NaN of nothing. What is measured is forgotten at the end of the warm-up.
    fn latency_s(&self, (sum, n): (Dur, u64)) -> f64 {
        let (sum_before, n_before) = if n < self.latency.1 { (Dur::ZERO, 0) } else { self.latency };
        mean_s(sum - sum_before, n - n_before)
    }
}

/// Takes the gauges of a flow's controller as series of the flow.
struct Gauges<'a> {
    flow: &'a str,
    put: &'a mut dyn FnMut(&dyn Fn() -> String, f64),
}

impl Probe for Gauges<'_> {
    fn gauge(&mut self, name: &'static str, unit: &'static str, value: f64) {
        (self.put)(&|| format!("flow.{}.{}", self.flow, column(name, unit)), value);
    }
}

/// The column of a gauge: `bbr.bandwidth` in b/s is `bbr_bandwidth_bps`. Counts, segments and pure numbers have no
/// suffix, as everywhere.
fn column(name: &str, unit: &str) -> String {
    let suffix = match unit {
        "b/s" => "_bps",
        "s" => "_s",
        "bytes" => "_bytes",
        _ => "",
    };
    format!("{}{suffix}", name.replace('.', "_"))
}

impl Series {
    pub fn new(every: Dur, queues: QueueIds) -> Series {
        Series { every, columns: Vec::new(), queues, before: Vec::new() }
    }

    pub(super) fn sample(&mut self, now: SimTime, flows: &[Flow], interfaces: &[Interface], wires: &[Wire]) {
        let mut at = 0;
        let (columns, t_s) = (&mut self.columns, now.as_secs_f64());
        // The first sample makes the columns, in the order every later one finds them.
        let mut put = |name: &dyn Fn() -> String, value: f64| {
            if at == columns.len() {
                columns.push(Column { name: name(), t_s: Vec::new(), value: Vec::new() });
            }
            columns[at].t_s.push(t_s);
            columns[at].value.push(value);
            at += 1;
        };
        self.before.resize(flows.len(), Before::default());
        for (flow, before) in flows.iter().zip(&mut self.before) {
            let Some(stated) = flow.stated() else { continue };
            let payload = stated.delivered[1].payload;
            let goodput = Bytes(payload - before.payload) / self.every;
            let latency = stated.latency.so_far();
            let latency_s = before.latency_s(latency);
            *before = Before { payload, latency };
            put(&|| format!("flow.{}.goodput_bps", stated.name), goodput.bps() as f64);
            put(&|| format!("flow.{}.latency_s", stated.name), latency_s);
            if let Some(sender) = flow.connection(0) {
                let ssthresh = sender.ssthresh().0;
                let ssthresh = if ssthresh == u64::MAX { f64::NAN } else { ssthresh as f64 };
                put(&|| format!("flow.{}.cwnd_bytes", stated.name), sender.cwnd().0 as f64);
                put(&|| format!("flow.{}.ssthresh_bytes", stated.name), ssthresh);
                put(&|| format!("flow.{}.flight_size_bytes", stated.name), sender.flight_size().0 as f64);
                put(&|| format!("flow.{}.rwnd_bytes", stated.name), sender.rwnd().0 as f64);
                put(&|| format!("flow.{}.rto_s", stated.name), sender.rto().as_secs_f64());
                put(
                    &|| format!("flow.{}.srtt_s", stated.name),
                    sender.srtt().map_or(f64::NAN, |srtt| srtt.as_secs_f64()),
                );
                sender.probe(&mut Gauges { flow: &stated.name, put: &mut put });
            }
        }
        for (air, Interface { station, .. }) in self.queues.air.iter().zip(interfaces) {
            for (i, queue) in station.queues().enumerate() {
                let id = || category_id(air, station, i);
                put(&|| format!("queue.{}.packets", id()), f64::from(queue.space().entries));
            }
        }
        for (id, wire) in self.queues.wires.iter().zip(wires) {
            put(&|| format!("queue.{id}.packets"), wire.queue().len() as f64);
        }
    }
}
