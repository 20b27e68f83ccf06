//! Modes of control frames.

use crate::frame::ACK;
use phy::{Mode, Preamble, airtime};
use units::{Bytes, Dur};

/// The modes of control frames, worked out once for frames in each mode of a radio.
///
/// A *response* (CTS, Ack, Block Ack) has the modulation class of its frame's reference mode ([`Row::reference`](phy::mode::Row)): a
/// legacy frame's is its own, that of HT and later one of OFDM with the non-HT reference rate. It goes at the highest basic rate of that
/// class that is not above the reference mode's; without one at the highest mandatory rate of that class that is not above it.
/// @80211-2020 10.6.6.5.2, classes 10.6.9, reference rates 10.6.11
///
/// An *RTS* responds to nothing: it goes at the highest basic rate that is not above the reference mode's of the frame that it asks
/// for, of the same class if the set has one, and else of any. @80211-2020 10.6.6.2
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlModes {
    basic: Vec<Mode>,
    all_responses: Option<Mode>,
    all_rts: Option<Mode>,
    preamble: Preamble,
    /// Of each reference mode, slowest first: most data goes at the highest rate, and is found first from the end.
    known: Vec<Around>,
}

/// The control frames around a frame with this reference mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Around {
    reference: Mode,
    response: Mode,
    /// Time on the air of a response as long as an Ack: most are.
    ack: Dur,
    rts: Mode,
}

/// The fastest of some modes that is not above this one.
fn not_above(to: Mode, modes: impl Iterator<Item = Mode>) -> Option<Mode> {
    modes.filter(|mode| mode.bit_rate() <= to.bit_rate()).max_by_key(|mode| mode.bit_rate())
}

impl ControlModes {
    /// Of a radio with these modes, slowest first, and this basic rate set, in any order. The set may be empty.
    pub fn of(modes: &[Mode], basic: &[Mode]) -> ControlModes {
        let frames = modes.iter().flat_map(|mode| [Some(*mode), mode.twin]).flatten();
        let mut known: Vec<Around> = Vec::new();
        for reference in frames.map(|mode| mode.reference) {
            if !known.iter().any(|around| around.reference == reference) {
                known.push(Around { reference, response: reference, ack: Dur::ZERO, rts: reference });
            }
        }
        let none = ControlModes {
            basic: basic.to_vec(),
            all_responses: None,
            all_rts: None,
            preamble: Preamble::Long,
            known,
        };
        none.worked_out()
    }

    /// The same with responses in this mode, whatever they respond to.
    #[must_use]
    pub fn with_responses(self, mode: Mode) -> ControlModes {
        ControlModes { all_responses: Some(mode), ..self }.worked_out()
    }

    /// The same with RTS in this mode, whatever they ask for.
    #[must_use]
    pub fn with_rts(self, mode: Mode) -> ControlModes {
        ControlModes { all_rts: Some(mode), ..self }.worked_out()
    }

    /// The same with RTS at the slowest basic rate, unless they go in a stated mode.
    #[must_use]
    pub fn with_slowest_rts(self) -> ControlModes {
        let slowest = self.basic.iter().copied().min_by_key(|mode| mode.bit_rate());
        match slowest.filter(|_| self.all_rts.is_none()) {
            Some(slowest) => self.with_rts(slowest),
            None => self,
        }
    }

    /// The same behind this preamble, where there is a choice.
    #[must_use]
    pub fn with_preamble(mut self, preamble: Preamble) -> ControlModes {
        let stated = self.basic.iter_mut().chain(&mut self.all_responses).chain(&mut self.all_rts);
        stated.for_each(|mode| *mode = mode.with_preamble(preamble));
        self.preamble = preamble;
        self.worked_out()
    }

    /// Of the response to a frame in this mode.
    #[inline]
    pub fn response_to(&self, mode: Mode) -> Mode {
        self.around(mode).response
    }

    /// Mode and airtime of a response of this length to a frame in this mode.
    #[inline]
    pub fn response(&self, mode: Mode, len: Bytes) -> (Mode, Dur) {
        let Around { response, ack, .. } = self.around(mode);
        (response, if len == ACK { ack } else { airtime(response, len) })
    }

    /// Of the RTS before a frame in this mode.
    #[inline]
    pub fn rts_before(&self, mode: Mode) -> Mode {
        self.around(mode).rts
    }

    #[inline]
    fn around(&self, frame: Mode) -> Around {
        let reference = frame.reference;
        let known = self.known.iter().rev().find(|around| around.reference == reference);
        known.copied().unwrap_or_else(|| self.work_out(reference))
    }

    fn worked_out(mut self) -> ControlModes {
        let known = self.known.iter().map(|around| self.work_out(around.reference)).collect();
        self.known = known;
        self
    }

    #[cold]
    fn work_out(&self, reference: Mode) -> Around {
        let class = reference.format;
        let any = || self.basic.iter().copied();
        let of_class = || not_above(reference, any().filter(|mode| mode.format == class));
        let mandatory = || class.mandatory.iter().map(|mode| mode.with_preamble(self.preamble));
        let by_rule = of_class().or_else(|| not_above(reference, mandatory())).unwrap_or(reference);
        let response = self.all_responses.unwrap_or(by_rule);
        let rts = self.all_rts.or_else(of_class).or_else(|| not_above(reference, any())).unwrap_or(by_rule);
        Around { reference, response, ack: airtime(response, ACK), rts }
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
        let modes = ControlModes::of(Standard::G.modes(), &basic.iter().map(|kbps| g(*kbps)).collect::<Vec<_>>());
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
            let modes = ControlModes::of(Standard::G.modes(), &basic.iter().map(|kbps| g(*kbps)).collect::<Vec<_>>());
            modes.rts_before(g(to)).bit_rate().bps() / 1000
        };
        assert_eq!(rts(&[1000, 2000, 6000, 24_000], 54_000), 24_000);
        assert_eq!(rts(&[1000, 2000, 6000, 24_000], 11_000), 2000);
        assert_eq!(rts(&[1000, 2000, 5500, 11_000], 54_000), 11_000);
        assert_eq!(rts(&[1000, 2000, 5500, 11_000], 6000), 5500);
        assert_eq!(rts(&[24_000], 6000), 6000);
        let own = ControlModes::of(Standard::G.modes(), &[g(1000)]).with_rts(g(2000)).with_responses(g(6000));
        assert_eq!((own.rts_before(g(54_000)), own.response_to(g(11_000))), (g(2000), g(6000)));
    }

    #[test]
    fn a_frame_in_a_mode_that_the_radio_has_not_is_answered_by_the_same_rule() {
        let all: Vec<Mode> = Standard::G.mandatory().collect();
        let [of_b, of_g] = [Standard::B, Standard::G].map(|standard| ControlModes::of(standard.modes(), &all));
        for mode in Standard::G.modes() {
            assert_eq!(of_b.response_to(*mode), of_g.response_to(*mode));
            assert_eq!(of_b.rts_before(*mode), of_g.rts_before(*mode));
        }
    }

    #[test]
    fn a_short_preamble_is_that_of_all_control_frames_whatever_that_of_their_frame() {
        let short = ControlModes::of(Standard::B.modes(), &[g(2000)]).with_preamble(Preamble::Short);
        for (to, response) in [(g(1000), g(1000)), (g(2000), g(2000)), (g(11_000), g(2000))] {
            let response = response.with_preamble(Preamble::Short);
            assert_eq!([to, to.with_preamble(Preamble::Short)].map(|to| short.response_to(to)), [response; 2]);
        }
        // A mode stated later is taken as it is.
        assert_eq!(short.with_rts(g(2000)).rts_before(g(11_000)), g(2000));
    }
}
