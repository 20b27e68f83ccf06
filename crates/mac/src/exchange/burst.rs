//! Block Ack, data, Block Ack: the burst of a responder to whom the rest of an opportunity was granted. @80211-2020 10.29.4

use super::{Exchange, Job, Step, counter_of, data_step};
use crate::Config;
use crate::frame::{CONTROL_WRAPPER, Kind};
use crate::psdu::Frame;
use phy::airtime;
use units::Dur;

/// The sequence that begins with `block_ack` in a Control Wrapper and delivers data to its receiver a SIFS after it. What `block_ack` announces is
/// what was granted, and both frames announce the rest of it. `None`: the response to the data would not end within it.
pub fn burst(config: &Config, block_ack: &Frame, job: &Job) -> Option<Exchange> {
    let (sifs, mode) = (config.timing.sifs, block_ack.tx.mode);
    let psdu = block_ack.psdu.len() + CONTROL_WRAPPER;
    let wrapped = airtime(mode, psdu);
    let left = (block_ack.airtime + block_ack.duration).saturating_sub(wrapped);
    let data = data_step(config, job, sifs, counter_of(config, job));
    let duration = left.saturating_sub(sifs + data.airtime);
    if duration < data.duration {
        return None;
    }
    let first = Step {
        kind: Kind::BlockAck,
        mode,
        psdu,
        airtime: wrapped,
        duration: left,
        gap: Dur::ZERO,
        response: None,
        counter: data.counter,
    };
    Some(Exchange::of([first, Step { duration, ..data }]))
}
