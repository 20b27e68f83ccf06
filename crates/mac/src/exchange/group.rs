//! A frame to a group: sent once, at the basic rate, with no response. @80211-2020 10.3.6

use super::{Counter, Exchange, Job, Step};
use crate::Config;
use crate::frame::Kind;
use phy::airtime;
use units::Dur;

pub(super) fn build(config: &Config, job: &Job) -> Exchange {
    Exchange::of([Step {
        kind: Kind::Data,
        mode: config.basic_rate,
        psdu: job.psdu,
        airtime: airtime(config.basic_rate, job.psdu),
        duration: Dur::ZERO,
        gap: Dur::ZERO,
        response: None,
        counter: Counter::Short,
    }])
}
