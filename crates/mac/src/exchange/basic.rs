//! Data, ACK: the basic access method. @80211-2020 10.3.2.11

use super::{Exchange, Job, counter_of, data_step};
use crate::Config;
use units::Dur;

pub(super) fn build(config: &Config, job: &Job) -> Exchange {
    Exchange::of([data_step(config, job, Dur::ZERO, counter_of(config, job))])
}
