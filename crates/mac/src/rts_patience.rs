//! Time at which a NAV that rests on an RTS may fall.

use crate::Config;
use phy::Mode;
use units::Dur;

/// Time after the end of an RTS at which a station that set its NAV by it may conclude that no CTS came: one answer for all stations,
/// which have the same slots and basic rates unless a scheme says otherwise. @80211-2020 10.3.2.4
#[derive(Debug)]
pub struct RtsPatience {
    by_mode: Vec<(Mode, Dur)>,
    /// After an RTS in any other mode.
    longest: Dur,
}

impl RtsPatience {
    /// The longest that any of these stations would wait ([`Config::rts_nav_patience`]).
    pub fn of(stations: &[Config]) -> RtsPatience {
        let mut by_mode: Vec<(Mode, Dur)> = Vec::new();
        for mode in
            stations.iter().flat_map(|config| &config.modes).flat_map(|mode| [Some(*mode), mode.twin]).flatten()
        {
            if by_mode.iter().all(|(known, _)| *known != mode) {
                let longest = stations.iter().map(|config| config.rts_nav_patience(mode)).max();
                by_mode.push((mode, longest.unwrap_or_default()));
            }
        }
        let longest = by_mode.iter().map(|(_, patience)| *patience).max().unwrap_or_default();
        RtsPatience { by_mode, longest }
    }

    /// The same after every RTS.
    pub fn always(patience: Dur) -> RtsPatience {
        RtsPatience { by_mode: Vec::new(), longest: patience }
    }

    /// After an RTS in this mode.
    #[inline]
    pub(crate) fn after(&self, rts: Mode) -> Dur {
        self.by_mode.iter().find(|(mode, _)| *mode == rts).map_or(self.longest, |(_, patience)| *patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phy::Standard;

    #[test]
    fn the_most_patient_station_speaks_for_all_and_the_longest_patience_for_modes_that_nobody_has() {
        let us = |patience: &RtsPatience, rts| patience.after(rts).ns() / 1000;
        let mut configs = [Config::of(Standard::B, Mode::dsss(3)), Config::of(Standard::B, Mode::dsss(3))];
        // 2 · 10 + CTS + aRxPHYStartDelay 192 + 2 · 20: a CTS at 11 Mb/s takes 192 + ⌈112 / 11⌉ = 203, at 1 Mb/s 304.
        let both = RtsPatience::of(&configs);
        assert_eq!([Mode::dsss(3), Mode::dsss(0), Mode::ofdm(0)].map(|rts| us(&both, rts)), [455, 556, 556]);
        configs[1].timing.slot = Dur::from_us(30);
        assert_eq!(us(&RtsPatience::of(&configs), Mode::dsss(3)), 475);
        assert_eq!(us(&RtsPatience::always(Dur::from_us(7)), Mode::dsss(3)), 7);
    }
}
