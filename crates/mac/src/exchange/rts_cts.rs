//! RTS, CTS, data, ACK. @80211-2020 10.3.2.9

use super::{Answer, Counter, Exchange, Job, Step, control, data_step};
use crate::Config;
use crate::frame::{Kind, RTS};
use phy::airtime;
use units::Dur;

pub(super) fn build(config: &Config, job: &Job) -> Exchange {
    let sifs = config.timing.sifs;
    let rate = config.control_rate(job.rate);
    let (cts_rate, cts) = control(config, Kind::Cts, rate);
    let data = data_step(config, job, sifs, Counter::Long);
    let rts = Step {
        kind: Kind::Rts,
        rate,
        mpdu: RTS,
        airtime: airtime(rate, RTS, config.preamble),
        // CTS, data and ACK with the three gaps. @80211-2020 9.2.5.2
        duration: sifs + cts + sifs + data.airtime + data.duration,
        gap: Dur::ZERO,
        answer: Some(Answer { kind: Kind::Cts, timeout: config.answer_timeout(cts_rate) }),
        counter: Counter::Short,
    };
    Exchange::of([rts, data])
}
