//! CTS to the station itself, data, ACK: the CTS sets the NAV of those who cannot read the data. NAV distribution, @80211-2020
//! 10.3.2.15; protection of OFDM where stations of 802.11b listen, 10.27.2

use super::{Exchange, Job, Step, counter_of, data_step};
use crate::Config;
use crate::frame::{CTS, Kind};
use phy::airtime;
use units::Dur;

pub(super) fn build(config: &Config, job: &Job) -> Exchange {
    let sifs = config.timing.sifs;
    let mode = config.control_modes.rts_before(job.mode);
    let counter = counter_of(config, job);
    let data = data_step(config, job, sifs, counter);
    let cts = Step {
        kind: Kind::Cts,
        mode,
        psdu: CTS,
        airtime: airtime(mode, CTS),
        // Data and ACK with the two gaps.
        duration: sifs + data.airtime + data.duration,
        gap: Dur::ZERO,
        response: None,
        counter,
    };
    Exchange::of([cts, data])
}
