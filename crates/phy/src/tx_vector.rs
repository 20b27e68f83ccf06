//! The TX vector: what the MAC tells the PHY with each frame. @80211-2020 16.2.2, 17.2.2, 19.2.2

use crate::{BlockCode, Mode};
use core::fmt;
use units::Dbm;

/// The TX vector of one PPDU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TxVector {
    /// Modulation and coding of its PSDU.
    pub mode: Mode,
    /// TXPWR_LEVEL. Of no meaning where signals have no powers.
    pub power: TxPower,
    /// The block code over its PSDU; `None`: none but that of the modulation. Airtime counts it, and of the error models that of
    /// independent bits ([`crate::Hit::Bit`]): to the others, and to error curves, it is no help.
    pub code: Option<BlockCode>,
}

impl From<Mode> for TxVector {
    /// At the transmitter's own power, without a code.
    fn from(mode: Mode) -> TxVector {
        TxVector { mode, power: TxPower::OWN, code: None }
    }
}

/// TXPWR_LEVEL: the transmitter's own, or another. One word, since frames are copied on the hot path.
#[derive(Clone, Copy)]
pub struct TxPower(f64);

impl TxPower {
    /// That of the transmitter.
    pub const OWN: TxPower = TxPower(f64::NAN);

    /// This one. NaN is [`TxPower::OWN`].
    pub const fn of(level: Dbm) -> TxPower {
        TxPower(level.0)
    }

    /// `None`: the transmitter's own.
    pub fn level(self) -> Option<Dbm> {
        (!self.0.is_nan()).then_some(Dbm(self.0))
    }
}

impl PartialEq for TxPower {
    fn eq(&self, other: &TxPower) -> bool {
        self.level() == other.level()
    }
}

impl fmt::Debug for TxPower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.level(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_is_the_transmitters_own_or_another() {
        assert_eq!((TxPower::OWN.level(), TxPower::of(Dbm(-3.0)).level()), (None, Some(Dbm(-3.0))));
        assert!(TxPower::OWN == TxPower::OWN && TxPower::OWN != TxPower::of(Dbm(0.0)));
        assert!(size_of::<TxVector>() <= 24, "{} bytes, copied with every frame", size_of::<TxVector>());
    }
}
