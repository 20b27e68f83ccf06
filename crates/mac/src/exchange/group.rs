//! A frame to a group: sent once, at the basic rate, answered by nobody. @80211-2020 10.3.6

use super::{Counter, Exchange, Job, Step};
use crate::Config;
use crate::frame::Kind;
use phy::airtime;
use units::Dur;

pub(super) fn build(config: &Config, job: &Job) -> Exchange {
    Exchange::of([Step {
        kind: Kind::Data,
        rate: config.basic_rate,
        mpdu: job.mpdu,
        airtime: airtime(config.basic_rate, job.mpdu, config.preamble),
        duration: Dur::ZERO,
        gap: Dur::ZERO,
        answer: None,
        counter: Counter::Short,
    }])
}
