//! Which mode a control frame goes in.

use phy::{Mode, Preamble};

/// The modes of control frames, worked out once for frames in each mode.
///
/// A *response* (CTS, Ack) has the modulation class of the frame that it responds to: it goes at the highest basic rate of that
/// class that is not above the frame's; without one at the highest mandatory rate of that class that is not above it.
/// @80211-2020 10.6.6.5.2, classes 10.6.9
///
/// An *RTS* responds to nothing: it goes at the highest basic rate that is not above that of the frame that it asks for, of the
/// frame's class if the set has one, and else of any. @80211-2020 10.6.6.2
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlModes {
    responses: [Mode; Mode::COUNT],
    rts: [Mode; Mode::COUNT],
}

/// The fastest of some modes that is not above a frame's.
fn not_above(to: Mode, modes: impl Iterator<Item = Mode>) -> Option<Mode> {
    modes.filter(|mode| mode.bit_rate() <= to.bit_rate()).max_by_key(|mode| mode.bit_rate())
}

impl ControlModes {
    /// Of a basic rate set, in any order. It may be empty.
    pub fn of(basic: &[Mode]) -> ControlModes {
        let of_class = |to: Mode| basic.iter().copied().filter(move |mode| mode.format == to.format);
        let response = |to: Mode| {
            let mandatory = || not_above(to, to.format.mandatory().iter().copied());
            not_above(to, of_class(to)).or_else(mandatory).unwrap_or(to)
        };
        let rts = |to: Mode| {
            let of_any = || not_above(to, basic.iter().copied());
            not_above(to, of_class(to)).or_else(of_any).unwrap_or_else(|| response(to))
        };
        ControlModes { responses: Mode::all().map(response), rts: Mode::all().map(rts) }
    }

    /// The same with responses in this mode, whatever they respond to.
    #[must_use]
    pub fn with_responses(self, mode: Mode) -> ControlModes {
        ControlModes { responses: [mode; Mode::COUNT], ..self }
    }

    /// The same with RTS in this mode, whatever they ask for.
    #[must_use]
    pub fn with_rts(self, mode: Mode) -> ControlModes {
        ControlModes { rts: [mode; Mode::COUNT], ..self }
    }

    /// The same behind this preamble, where there is a choice.
    #[must_use]
    pub fn with_preamble(&self, preamble: Preamble) -> ControlModes {
        let behind = |modes: [Mode; Mode::COUNT]| modes.map(|mode| mode.with_preamble(preamble));
        ControlModes { responses: behind(self.responses), rts: behind(self.rts) }
    }

    /// Of the response to a frame in this mode.
    pub fn response_to(&self, mode: Mode) -> Mode {
        self.responses[mode.index()]
    }

    /// Of the RTS before a frame in this mode.
    pub fn rts_before(&self, mode: Mode) -> Mode {
        self.rts[mode.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phy::Standard;
    use units::BitRate;

    fn g(kbps: u64) -> Mode {
        Standard::G.mode(BitRate::from_kbps(kbps)).expect("a rate of 802.11g")
    }

    fn responses(basic: &[u64], to: &[u64]) -> Vec<u64> {
        let modes = ControlModes::of(&basic.iter().map(|kbps| g(*kbps)).collect::<Vec<_>>());
        to.iter().map(|to| modes.response_to(g(*to)).bit_rate().bps() / 1000).collect()
    }

    #[test]
    fn a_response_is_of_the_class_of_its_frame_and_a_basic_rate_if_the_class_has_one_not_above_it() {
        let all = [1000, 2000, 5500, 6000, 9000, 11_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000];
        // With all mandatory rates basic, 9 is answered at 6 and not at 5.5, 11 at 11 and not at 6.
        assert_eq!(
            responses(&[1000, 2000, 5500, 6000, 11_000, 12_000, 24_000], &all),
            [1000, 2000, 5500, 6000, 6000, 11_000, 12_000, 12_000, 24_000, 24_000, 24_000, 24_000]
        );
        // With DSSS alone basic, OFDM frames are answered at mandatory rates of OFDM; and the other way round.
        assert_eq!(
            responses(&[2000, 1000], &all),
            [1000, 2000, 2000, 6000, 6000, 2000, 12_000, 12_000, 24_000, 24_000, 24_000, 24_000]
        );
        assert_eq!(
            responses(&[24_000], &all),
            [1000, 2000, 5500, 6000, 6000, 11_000, 12_000, 12_000, 24_000, 24_000, 24_000, 24_000]
        );
    }

    #[test]
    fn an_rts_is_of_the_class_of_its_frame_only_if_that_class_has_a_basic_rate() {
        let rts = |basic: &[u64], to| {
            let modes = ControlModes::of(&basic.iter().map(|kbps| g(*kbps)).collect::<Vec<_>>());
            modes.rts_before(g(to)).bit_rate().bps() / 1000
        };
        assert_eq!(rts(&[1000, 2000, 6000, 24_000], 54_000), 24_000);
        assert_eq!(rts(&[1000, 2000, 6000, 24_000], 11_000), 2000);
        assert_eq!(rts(&[1000, 2000, 5500, 11_000], 54_000), 11_000);
        assert_eq!(rts(&[1000, 2000, 5500, 11_000], 6000), 5500);
        assert_eq!(rts(&[24_000], 6000), 6000);
        let own = ControlModes::of(&[g(1000)]).with_rts(g(2000)).with_responses(g(6000));
        assert_eq!((own.rts_before(g(54_000)), own.response_to(g(11_000))), (g(2000), g(6000)));
    }
}
