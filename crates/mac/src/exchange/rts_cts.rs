//! RTS, CTS, data, ACK. @80211-2020 10.3.2.9

use super::{Awaited, Counter, Exchange, Job, Step, data_step};
use crate::Config;
use crate::frame::{CTS, Kind, RTS};
use phy::airtime;
use units::Dur;

pub(super) fn build(config: &Config, job: &Job) -> Exchange {
    let sifs = config.timing.sifs;
    let mode = config.control_modes.rts_before(job.mode);
    let (cts_mode, cts) = config.control_modes.response(mode, CTS);
    // Our choice: the standard counts by length (@80211-2020 10.3.4.4). Here a CTS resets the MSDU's short counter, so short data behind an
    // RTS that something else than the threshold asked for would be tried for ever.
    let data = data_step(config, job, sifs, Counter::Long);
    let rts = Step {
        kind: Kind::Rts,
        mode,
        psdu: RTS,
        airtime: airtime(mode, RTS),
        // CTS, data and ACK with the three gaps. @80211-2020 9.2.5.2
        duration: sifs + cts + sifs + data.airtime + data.duration,
        gap: Dur::ZERO,
        response: Some(Awaited { kind: Kind::Cts, timeout: config.response_timeout(cts_mode) }),
        counter: Counter::Short,
    };
    Exchange::of([rts, data])
}
