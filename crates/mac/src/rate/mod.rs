//! Which mode a data frame goes out in.

use crate::Config;
use engine::Stream;
use phy::Mode;
use plugin::Params;
use units::{Bytes, NodeId, SimTime};

/// An attempt that is about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Receiver. Frames to groups are not asked about: they go at the lowest basic rate.
    pub to: NodeId,
    /// Length of the first MPDU.
    pub mpdu: Bytes,
    /// Attempts of its MSDU so far.
    pub attempts: u8,
}

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempted {
    /// Receiver.
    pub to: NodeId,
    /// The mode of the data frame after [`crate::Transmit`], whether or not it went out behind its RTS.
    pub mode: Mode,
    /// MPDUs in it.
    pub sent: u8,
    /// Of those, acknowledged.
    pub acknowledged: u8,
    /// Whether the data frame went out: false if its RTS was not answered; then `acknowledged` is 0 and tells nothing of the mode.
    pub went_out: bool,
}

/// Rate control of one station. It gets its random stream when it is made; its timer is one of the station's.
///
/// An attempt is an exchange, whatever number of MPDUs its PSDU has. A loss to a higher category of the same station is none.
/// Call order: [`RateControl::mode`] once before each attempt, [`RateControl::attempted`] once after it.
/// [`RateControl::expected`] is asked in between, to announce how long a further exchange will take and whether it fits into the
/// opportunity; it must not change anything. If `mode` then returns a slower mode, the exchange is longer than announced. An
/// exchange that begins with a response ([`crate::Plan::reply`]) takes `expected`, and `mode` is not asked before its `attempted`.
/// Nobody checks that a mode is one of the radio's, or one that the receiver can decode.
pub trait RateControl: std::fmt::Debug {
    /// The mode of the attempt that is made now.
    fn mode(&mut self, now: SimTime, attempt: &Attempt) -> Mode;
    /// The mode that the next attempt to `to` would have, as far as can be told.
    fn expected(&self, to: NodeId) -> Mode;
    /// An attempt is over.
    fn attempted(&mut self, _now: SimTime, _attempted: &Attempted) {}
    /// When [`RateControl::timer`] is due. Read after each input of the station: what an agent changes in between is seen at the
    /// next of these.
    fn next_wakeup(&self) -> SimTime {
        SimTime::NEVER
    }
    /// Its timer went off.
    fn timer(&mut self, _now: SimTime) {}
}

/// What a rate control is made for: one station.
#[derive(Debug)]
pub struct Given<'a> {
    /// The station's parameters.
    pub config: &'a Config,
    /// The modes of its radio, slowest first.
    pub modes: &'static [Mode],
    /// A random stream of its own.
    pub draws: Stream,
}

/// Makes a rate control for one station.
pub type Make = fn(&Params, Given<'_>) -> Box<dyn RateControl>;

plugin::registry! { "rate control", Make:
    "fixed" => fixed,
}

/// One mode for each receiver, for good.
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

    /// What a station's parameters say.
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
    fn mode(&mut self, _: SimTime, attempt: &Attempt) -> Mode {
        self.expected(attempt.to)
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
        assert_eq!((NAMES, registry().ids()), (&["fixed"][..], vec!["fixed"]));
        let config = Config::of(phy::Standard::A, Mode::ofdm(4));
        let draws = engine::Streams::new(1).get(engine::Purpose::RateControl, 0);
        let chosen = find("fixed").expect("it is in the list");
        let rates =
            (chosen.plugin)(&chosen.params, Given { config: &config, modes: phy::Standard::A.modes(), draws });
        assert_eq!(rates.expected(NodeId(3)), Mode::ofdm(4));
    }

    #[test]
    fn each_receiver_has_its_mode_and_all_others_the_common_one() {
        let fixed = Fixed::new(Mode::ofdm(7)).with(NodeId(2), Mode::ofdm(0));
        assert_eq!([0, 1, 2, 3].map(|to| fixed.expected(NodeId(to)).mcs), [7, 7, 0, 7]);
    }
}
