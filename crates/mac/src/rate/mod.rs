//! Rate control: the modes that the attempts of a data frame go out in.

mod chain;
mod receivers;
mod stepping;

use crate::Config;
use crate::report::PsduReport;
use crate::tx_queue::RaTid;
use engine::Stream;
use phy::Mode;
use plugin::Params;
use units::{Bytes, NodeId, SimTime};

pub(crate) use chain::Walk;
pub use chain::{Chain, Stage};
pub use receivers::Supported;

/// An MSDU that heads a PSDU and needs a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its receiver and TID. Frames to groups are not asked about: they go at the lowest basic rate.
    pub link: RaTid,
    /// Length of its MPDU.
    pub mpdu: Bytes,
    /// Attempts of it so far: more than none if it was not the first of its PSDU before, if a queue took it back, or if its last
    /// chain is used up.
    pub attempts: u8,
}

/// Rate control of one station. It gets its random stream when it is made; its timer is one of the station's.
///
/// A chain is one MSDU's: its attempts walk along it for as long as it heads the PSDU, whatever MPDUs share that. An attempt is an
/// exchange; a loss to a higher category of the same station is none. Of an MSDU in fragments each fragment has a chain of its own.
///
/// Call order: [`RateControl::chain`] when an exchange of an MSDU is planned and there is no chain for it, or all tries of the one that
/// it had are used up; [`RateControl::attempted`] after each attempt. [`RateControl::expected`] may be asked at any time, to announce
/// how long a further exchange will take and whether it fits into the opportunity; it must not change anything. If `chain` then
/// begins with a slower mode, the exchange is longer than announced. A control that decides before each attempt answers with a
/// chain of one try. Nobody checks that a mode is one of the radio's, or one that the receiver can decode.
pub trait RateControl {
    /// Writes the chain of an MSDU: [`Chain::set`]. What stands in `chain` was another's.
    fn chain(&mut self, now: SimTime, head: &Head, chain: &mut Chain);
    /// The mode that the chain of the next MSDU to `to` would begin with, as far as can be told.
    fn expected(&self, to: NodeId) -> Mode;
    /// An attempt is over. Only if it [`RateControl::heeds_attempts`].
    fn attempted(&mut self, _now: SimTime, _report: &PsduReport<'_>) {}
    /// True if it wants to be told of attempts. Asked once.
    fn heeds_attempts(&self) -> bool {
        true
    }
    /// The mean SNR of this station's frames at a receiver, as a ratio over 20 MHz, before each [`RateControl::chain`]; `None` where signals
    /// have no powers. Only if it [`RateControl::heeds_snr`].
    fn mean_snr(&mut self, _to: NodeId, _snr: Option<f64>) {}
    /// True if it wants to be told of mean SNRs, which no real station knows. Asked once.
    fn heeds_snr(&self) -> bool {
        false
    }
    /// True if its station sends each RTS at the slowest basic rate, unless the scenario states another. Asked once.
    fn asks_slowest_rts(&self) -> bool {
        false
    }
    /// False if it never has a timer, and [`RateControl::next_wakeup`] need not be asked. Asked once.
    fn has_timer(&self) -> bool {
        true
    }
    /// Time at which [`RateControl::timer`] is due. Read after each input of the station: what an agent changes in between is seen at the
    /// next of these.
    fn next_wakeup(&self) -> SimTime {
        SimTime::NEVER
    }
    /// Its timer went off.
    fn timer(&mut self, _now: SimTime) {}
}

units::debug_by_name!(RateControl);

/// The station that a rate control is made for.
pub struct Given<'a> {
    /// The station's parameters. `config.modes` are the modes of its radio, slowest first, as schemes have left them.
    pub config: &'a Config,
    /// Works out the modes that each receiver knows. For those who adapt: among many stations it takes its time.
    pub supported: &'a dyn Fn() -> Supported,
    /// A random stream of its own.
    pub draws: Stream,
}

impl std::fmt::Debug for Given<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Given").field("config", self.config).field("draws", &self.draws).finish_non_exhaustive()
    }
}

/// The reason why a rate control does not run on a station: one sentence that says what the station lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit(pub String);

/// Makes a rate control for one station.
pub type Make = fn(&Params, Given<'_>) -> Result<Box<dyn RateControl>, Unfit>;

plugin::registry! { "rate control", Make:
    "aarf" => aarf,
    "arf" => arf,
    "cara" => cara,
    "fixed" => fixed,
    "ideal" => ideal,
    "minstrel-ht" => minstrel_ht,
}

/// One mode for each receiver, for good: a chain of one stage without end.
#[derive(Debug, Clone)]
pub struct Fixed {
    to_all: Mode,
    to_each: Vec<Mode>,
}

impl Fixed {
    /// The same mode to everybody.
    pub fn new(mode: Mode) -> Fixed {
        Fixed { to_all: mode, to_each: Vec::new() }
    }

    /// Returns the rates that a station's parameters name.
    pub fn of(config: &Config) -> Fixed {
        config.data_rate_to.iter().fold(Fixed::new(config.data_rate), |fixed, (to, mode)| fixed.with(*to, *mode))
    }

    /// A mode of its own to one receiver.
    #[must_use]
    pub fn with(mut self, to: NodeId, mode: Mode) -> Fixed {
        if self.to_each.len() <= to.index() {
            self.to_each.resize(to.index() + 1, self.to_all);
        }
        self.to_each[to.index()] = mode;
        self
    }
}

impl RateControl for Fixed {
    fn chain(&mut self, _: SimTime, head: &Head, chain: &mut Chain) {
        chain.set([Stage::of(self.expected(head.link.to))]);
    }

    fn heeds_attempts(&self) -> bool {
        false
    }

    fn has_timer(&self) -> bool {
        false
    }

    fn expected(&self, to: NodeId) -> Mode {
        self.to_each.get(to.index()).copied().unwrap_or(self.to_all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_its_first_is_what_the_parameters_say() {
        let all = ["aarf", "arf", "cara", "fixed", "ideal", "minstrel-ht"];
        assert_eq!((NAMES, registry().ids()), (&all[..], all.to_vec()));
        let config = Config::of(phy::Standard::A, Mode::ofdm(4));
        let draws = engine::Streams::new(1).get(engine::Purpose::RateControl, 0);
        let chosen = find("fixed").expect("it is in the list");
        let supported = &|| Supported::by_all(&config.modes);
        let rates =
            (chosen.plugin)(&chosen.params, Given { config: &config, supported, draws }).expect("it runs everywhere");
        assert_eq!(rates.expected(NodeId(3)), Mode::ofdm(4));
    }

    #[test]
    fn each_receiver_has_its_mode_and_all_others_the_common_one() {
        let fixed = Fixed::new(Mode::ofdm(7)).with(NodeId(2), Mode::ofdm(0));
        assert_eq!([0, 1, 2, 3].map(|to| fixed.expected(NodeId(to)).mcs), [7, 7, 0, 7]);
    }
}
