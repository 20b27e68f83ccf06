//! A smoothed round trip and its deviation, for schemes that keep timers or estimates of their own. @RFC6298 section 2

use units::Dur;

/// SRTT and RTTVAR; nothing before the first sample.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Smoothed(Option<(Dur, Dur)>);

impl Smoothed {
    /// SRTT and RTTVAR.
    pub fn get(self) -> Option<(Dur, Dur)> {
        self.0
    }

    /// The time after which an answer is overdue: SRTT + 4 RTTVAR. `None` before the first sample.
    pub fn timeout(self) -> Option<Dur> {
        self.0.map(|(srtt, var)| srtt + var * 4)
    }

    /// Takes a sample, with gains of 1/8 and 1/4.
    pub fn sample(&mut self, rtt: Dur) {
        self.0 = Some(match self.0 {
            None => (rtt, rtt / 2),
            Some((srtt, var)) => ((srtt * 7 + rtt) / 8, (var * 3 + (srtt.max(rtt) - srtt.min(rtt))) / 4),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_move_it_by_an_eighth_and_a_quarter() {
        let mut smoothed = Smoothed::default();
        assert_eq!(smoothed.get(), None);
        smoothed.sample(Dur::from_ms(80));
        assert_eq!(smoothed.get(), Some((Dur::from_ms(80), Dur::from_ms(40))));
        assert_eq!(smoothed.timeout(), Some(Dur::from_ms(240)));
        // 80 + (160 - 80) / 8; 40 + (80 - 40) / 4.
        smoothed.sample(Dur::from_ms(160));
        assert_eq!(smoothed.get(), Some((Dur::from_ms(90), Dur::from_ms(50))));
    }
}
