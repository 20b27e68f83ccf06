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
    pub fn of<const N: usize>(list: [Stage; N]) -> Chain {
        let mut chain = Chain { stages: [list[0]; Chain::MOST], len: 1 };
        chain.set(list);
        chain
    }

    /// Becomes these stages, in order.
    #[inline]
    pub fn set<const N: usize>(&mut self, list: [Stage; N]) {
        const { assert!(N > 0 && N <= Chain::MOST) };
        self.stages[..N].copy_from_slice(&list);
        self.len = N as u8;
    }

    /// Its stages, at least one.
    pub fn stages(&self) -> &[Stage] {
        &self.stages[..usize::from(self.len)]
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
    /// Serial of the MSDU.
    serial: u64,
    /// The stage at hand.
    stage: u8,
    /// Attempts made in it.
    tries: u8,
}

impl Walk {
    /// Of no MSDU.
    const NOBODY: u64 = u64::MAX;

    /// Of no MSDU yet.
    pub fn new(mode: Mode) -> Walk {
        Walk { chain: Chain::of([Stage::of(mode)]), serial: Walk::NOBODY, stage: 0, tries: 0 }
    }

    /// A new chain for this MSDU, to be written.
    #[inline]
    pub fn begin(&mut self, msdu: &Msdu) -> &mut Chain {
        (self.serial, self.stage, self.tries) = (msdu.serial, 0, 0);
        &mut self.chain
    }

    /// The stage of the next attempt of this MSDU becomes the stage at hand. False if a chain is needed: this one is another's, or its
    /// tries are used up.
    #[inline]
    pub fn goes_on(&mut self, msdu: &Msdu) -> bool {
        if self.serial != msdu.serial {
            return false;
        }
        let tries = self.stage().tries;
        if tries != Stage::UNLIMITED && self.tries >= tries {
            (self.stage, self.tries) = (self.stage + 1, 0);
        }
        self.stage < self.chain.len
    }

    /// The stage at hand.
    #[inline]
    pub fn stage(&self) -> &Stage {
        &self.chain.stages[usize::from(self.stage)]
    }

    /// An attempt is over. Returns which stage it was in, counted from 0, and which attempt of that stage it was, counted from 1.
    #[inline]
    pub fn attempted(&mut self) -> (u8, u8) {
        self.tries = self.tries.saturating_add(1);
        (self.stage, self.tries)
    }

    /// Ends the chain: the next attempt begins another one.
    #[inline]
    pub fn end(&mut self) {
        self.serial = Walk::NOBODY;
    }
}
