//! ACK, CTS, data, ACK: an ACK that works as an RTS for data of who sends it (DCF+, seed 002 figure 4.2).

use super::{Answer, Counter, Exchange, Job, Step, control, data_step};
use crate::Config;
use crate::frame::{Frame, Kind};

/// The sequence that begins with `ack`, the answer to a data frame, and delivers an MSDU to the sender of that without
/// contention. The Duration of the ACK is an RTS's. @80211-2020 9.2.5.2
pub fn reply(config: &Config, ack: &Frame, job: &Job) -> Exchange {
    let sifs = config.timing.sifs;
    let (cts_rate, cts) = control(config, Kind::Cts, ack.rate);
    let data = data_step(config, job, sifs, Counter::Long);
    let first = Step {
        kind: Kind::Ack,
        rate: ack.rate,
        mpdu: ack.mpdu,
        airtime: ack.airtime,
        duration: sifs + cts + sifs + data.airtime + data.duration,
        gap: sifs,
        answer: Some(Answer { kind: Kind::Cts, timeout: config.answer_timeout(cts_rate) }),
        counter: Counter::Short,
    };
    Exchange::of([first, data])
}
