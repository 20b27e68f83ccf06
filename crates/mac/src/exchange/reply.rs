//! ACK, CTS, data, ACK: an ACK that works as an RTS for data of the station that sends it (DCF+).

use super::{Awaited, Counter, Exchange, Job, Step, data_step};
use crate::Config;
use crate::frame::{CTS, Kind};
use crate::psdu::Frame;

/// The sequence that begins with `ack`, the response to a data frame, and delivers an MSDU to the sender of that without
/// contention. The Duration of the ACK is an RTS's. @80211-2020 9.2.5.2
pub fn reply(config: &Config, ack: &Frame, job: &Job) -> Exchange {
    let sifs = config.timing.sifs;
    let (cts_mode, cts) = config.control_modes.response(ack.tx.mode, CTS);
    let data = data_step(config, job, sifs, Counter::Long);
    let first = Step {
        kind: Kind::Ack,
        mode: ack.tx.mode,
        psdu: ack.psdu.len(),
        airtime: ack.airtime,
        duration: sifs + cts + sifs + data.airtime + data.duration,
        gap: sifs,
        response: Some(Awaited { kind: Kind::Cts, timeout: config.response_timeout(cts_mode) }),
        counter: Counter::Short,
    };
    Exchange::of([first, data])
}
