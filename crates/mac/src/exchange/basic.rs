//! Data, ACK: the basic access method. @80211-2020 10.3.2.11

use super::{Counter, Exchange, Job, data_step};
use crate::Config;
use units::Dur;

pub(super) fn build(config: &Config, job: &Job) -> Exchange {
    let counter = if config.rts.is_above_threshold(job.psdu) { Counter::Long } else { Counter::Short };
    Exchange::of([data_step(config, job, Dur::ZERO, counter)])
}
