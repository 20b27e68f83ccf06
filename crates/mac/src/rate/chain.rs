//! Chains of modes: what the attempts of an MSDU go out in, one after the other.

use crate::msdu::Msdu;
use phy::Mode;
use units::Dur;

/// One stage of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Mode of the data frame.
    pub mode: Mode,
    /// Attempts in it, an unanswered RTS among them: 1 … 254, or [`Stage::UNLIMITED`].
    pub tries: u8,
    /// True if an RTS precedes the data frame whatever its length. If not, [`crate::Rts`] decides.
    pub rts: bool,
    /// The longest time on the air of a PPDU of several MPDUs. One MPDU goes whatever it takes.
    pub longest: Dur,
}

impl Stage {
    /// No end of tries: the chain is left when the MSDU is.
    pub const UNLIMITED: u8 = u8::MAX;

    /// All attempts in this mode, with an RTS where the threshold asks for one, and aggregates of any length.
    pub const fn of(mode: Mode) -> Stage {
        Stage { mode, tries: Stage::UNLIMITED, rts: false, longest: Dur::MAX }
    }

    /// The same with so many attempts, at least 1.
    #[must_use]
    pub const fn tries(self, tries: u8) -> Stage {
        Stage { tries, ..self }
    }

    /// The same behind an RTS.
    #[must_use]
    pub const fn behind_rts(self) -> Stage {
        Stage { rts: true, ..self }
    }

    /// The same with no aggregate longer than this on the air.
    #[must_use]
    pub const fn at_most(self, longest: Dur) -> Stage {
        Stage { longest, ..self }
    }
}

/// One to four stages. A retry goes out in the stage at hand until its tries are used up, then in the next one.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    /// Those beyond `len` mean nothing.
    stages: [Stage; Chain::MOST],
    len: u8,
}

impl Chain {
    /// Stages of a chain at most.
    pub const MOST: usize = 4;

    /// These stages, in order.
    pub const fn of<const N: usize>(list: [Stage; N]) -> Chain {
        const { assert!(N > 0 && N <= Chain::MOST) };
        let mut stages = [list[0]; Chain::MOST];
        let mut i = 1;
        while i < N {
            stages[i] = list[i];
            i += 1;
        }
        Chain { stages, len: N as u8 }
    }

    /// Its stages, at least one.
    pub fn stages(&self) -> &[Stage] {
        &self.stages[..usize::from(self.len)]
    }
}

impl From<Stage> for Chain {
    fn from(stage: Stage) -> Chain {
        Chain::of([stage])
    }
}

impl PartialEq for Chain {
    fn eq(&self, other: &Chain) -> bool {
        self.stages() == other.stages()
    }
}

impl Eq for Chain {}

/// The way of one MSDU along its chain.
#[derive(Debug)]
pub(crate) struct Walk {
    chain: Chain,
    /// Serial of the MSDU; `None`: of none any more.
    serial: Option<u64>,
    /// The stage at hand.
    stage: u8,
    /// Attempts begun in it.
    tries: u8,
}

impl Walk {
    /// Of no MSDU yet.
    pub fn new(mode: Mode) -> Walk {
        Walk { chain: Chain::from(Stage::of(mode)), serial: None, stage: 0, tries: 0 }
    }

    /// Of this MSDU, from the beginning of the chain.
    pub fn begin(&mut self, msdu: &Msdu, chain: Chain) -> Stage {
        (self.chain, self.serial, self.stage, self.tries) = (chain, Some(msdu.serial), 0, 0);
        chain.stages[0]
    }

    /// The stage of the next attempt of this MSDU, which becomes the stage at hand. `None`: a chain is needed, since this is another's
    /// or its tries are used up.
    #[inline]
    pub fn next(&mut self, msdu: &Msdu) -> Option<Stage> {
        if self.serial != Some(msdu.serial) {
            return None;
        }
        let stage = self.chain.stages[usize::from(self.stage)];
        if stage.tries == Stage::UNLIMITED || self.tries < stage.tries {
            return Some(stage);
        }
        (self.stage, self.tries) = (self.stage + 1, 0);
        if self.stage < self.chain.len {
            return Some(self.chain.stages[usize::from(self.stage)]);
        }
        self.end();
        None
    }

    /// The stage at hand, if it is this MSDU's.
    #[inline]
    pub fn at(&self, msdu: &Msdu) -> Option<&Stage> {
        let is_its = self.serial == Some(msdu.serial);
        if is_its { self.chain.stages.get(usize::from(self.stage)) } else { None }
    }

    /// An attempt begins with this MSDU in front.
    #[inline]
    pub fn attempt(&mut self, msdu: &Msdu) {
        if self.serial == Some(msdu.serial) {
            self.tries = self.tries.saturating_add(1);
        }
    }

    /// Which stage the attempt at hand is in, counted from 0, and which attempt of the stage it is, counted from 1.
    pub fn place(&self) -> (u8, u8) {
        (self.stage, self.tries)
    }

    /// The next attempt begins another chain.
    pub fn end(&mut self) {
        self.serial = None;
    }
}
