//! Losses that were none: how they are found out, and what is restored. @RFC3522, @RFC3708, @RFC5682, @RFC4015
//!
//! A window is remembered when it is cut. It comes back if a timestamp tells that the ACK is of the original and not of its
//! repetition (Eifel), if every repetition is reported to have come twice (DSACK), or if after a timeout ACKs come for what
//! was not repeated (F-RTO).
//!
//! Left out: the RTT estimator is not made more careful by a spurious timeout (@RFC4015 sec. 3.3).

use super::Connection;
use super::selective::Told;
use super::sender::Chosen;
use crate::Undo;
use units::{Bytes, SimTime};
use wire::{Seq, Tcp};

/// The steps of F-RTO. @RFC5682 sec. 2.1, 3.1
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Step {
    /// No timeout is in doubt.
    #[default]
    Off,
    /// The first segment was sent again; waits for the first ACK.
    First {
        /// SND.MAX at the timeout.
        recover: Seq,
    },
    /// New data was sent; waits for the second ACK.
    Second {
        /// See above.
        recover: Seq,
    },
}

/// The window before it was cut.
#[derive(Debug, Clone, Copy)]
struct Saved {
    cwnd: Bytes,
    ssthresh: Bytes,
    /// FlightSize then: pipe_prev with ssthresh. @RFC4015 sec. 3.2
    flight: Bytes,
    timeout: bool,
    /// SND.UNA then: data before it is not of this loss.
    una: Seq,
}

/// The memory of the last loss.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    saved: Option<Saved>,
    /// TSval of the first repetition. RetransmitTS of @RFC3522 sec. 3.2
    stamp: Option<u32>,
    /// The first ACK of new data has come: timestamps tell no more.
    acknowledged: bool,
    /// Repetitions that were not reported to have come twice.
    copies: u32,
    step: Step,
    /// New segments that may leave whatever the window. @RFC5682 sec. 2.1 step 2b
    beyond: u32,
}

impl Memory {
    /// A segment is sent again, at `tsval` if the connection has timestamps.
    pub fn repeated(&mut self, tsval: Option<u32>) {
        if self.saved.is_some() {
            self.copies += 1;
            self.stamp = self.stamp.or(tsval);
        }
    }

    /// Forgets the loss: the window stays as it is.
    fn forget(&mut self) {
        *self = Memory::default();
    }
}

impl Connection {
    /// Remembers the window, which is about to be cut; a first loss, unless a recovery lasts.
    pub(crate) fn remember_window(&mut self, timeout: bool) {
        let snd = &mut self.snd;
        let lasts = snd.recovering.is_some() || snd.guard.is_some();
        if self.config.undo == Undo::None {
            return;
        }
        let memory = snd.undo.get_or_insert_default();
        if lasts && memory.saved.is_some() {
            memory.step = Step::Off;
            return; // the first cut is the one to undo
        }
        memory.forget();
        let flight = snd.window.flight_size;
        let (cwnd, ssthresh) = (snd.window.cwnd, snd.window.ssthresh);
        memory.saved = Some(Saved { cwnd, ssthresh, flight, timeout, una: snd.una });
    }

    /// Returns true if only the first segment is to be sent again after a timeout, until ACKs tell more. Not after a second
    /// timeout, nor while another recovery lasts. @RFC5682 sec. 2.1 step 1
    pub(crate) fn doubts_timeout(&mut self, repeated: bool, recovering: bool) -> bool {
        let snd = &mut self.snd;
        let reneged = snd.tracking.as_ref().is_some_and(|tracking| tracking.board.reneged());
        let fits = self.config.undo.by_acks() && !repeated && !recovering && !reneged && snd.wnd > 0;
        let Some(memory) = snd.undo.as_deref_mut() else { return false };
        memory.step = if fits { Step::First { recover: snd.max } } else { Step::Off };
        fits
    }

    /// Restores the window if an ACK tells that the loss was none. It acknowledged `acked` bytes, and has been worked off.
    pub(crate) fn undo_if_spurious(
        &mut self,
        now: SimTime,
        tcp: Option<&Tcp>,
        acked: u64,
        duplicate: bool,
        told: &Told,
    ) {
        let Some(tcp) = tcp else { return };
        let snd = &mut self.snd;
        let selective = snd.is_selective();
        let Some(memory) = snd.undo.as_deref_mut() else { return };
        let Some(saved) = memory.saved else { return };
        let advanced = acked > 0;
        let mut spurious = false;
        if advanced && !core::mem::replace(&mut memory.acknowledged, true) && self.config.undo.by_timestamps() {
            let echoed = crate::options::timestamps(tcp).filter(|_| self.options.timestamps).map(|(_, tsecr)| tsecr);
            if let (Some(echoed), Some(stamp)) = (echoed, memory.stamp) {
                spurious = (echoed.wrapping_sub(stamp) as i32) < 0;
            }
        }
        if told.dsack.is_some_and(|twice| saved.una.le(twice.start)) && memory.copies > 0 {
            memory.copies -= 1;
            spurious |= memory.copies == 0;
        }
        match memory.step {
            Step::Off => {}
            _ if spurious => {}
            Step::First { recover } | Step::Second { recover } if recover.le(snd.una) => memory.step = Step::Off,
            Step::First { recover } if advanced => {
                if snd.next_beyond().is_some() {
                    if let Some(memory) = snd.undo.as_deref_mut() {
                        (memory.step, memory.beyond) = (Step::Second { recover }, 2);
                    }
                } else {
                    self.believe_timeout(now, false, true);
                }
                return;
            }
            // With SACK duplicates change the scoreboard and nothing else. @RFC5682 sec. 3.1 step 2
            Step::First { .. } if duplicate && !selective => return self.believe_timeout(now, false, false),
            Step::Second { .. } if advanced || told.fresh => spurious = true,
            Step::Second { .. } if duplicate => return self.believe_timeout(now, true, true),
            _ => {}
        }
        if spurious {
            self.restore_window(now, saved, acked);
        }
    }

    /// New data that may leave whatever the window, while a timeout is in doubt. @RFC5682 sec. 2.1 step 2b
    pub(crate) fn segment_of_doubt(&mut self) -> Option<Chosen> {
        let beyond = self.snd.undo.as_ref().map_or(0, |memory| memory.beyond);
        if beyond == 0 {
            return None;
        }
        let new = self.snd.next_beyond();
        if let Some(memory) = self.snd.undo.as_deref_mut() {
            memory.beyond = if new.is_some() { beyond - 1 } else { 0 };
        }
        new
    }

    /// The timeout was no mistake: all else is sent again as well. `after_new` data that left meanwhile; `moved` if the first
    /// segment is acknowledged. @RFC5682 sec. 2.1 steps 2a, 3a
    fn believe_timeout(&mut self, now: SimTime, after_new: bool, moved: bool) {
        let snd = &mut self.snd;
        if let Some(memory) = snd.undo.as_deref_mut() {
            (memory.step, memory.beyond) = (Step::Off, 0);
        }
        if after_new {
            snd.window.cwnd = snd.window.cwnd.min(snd.window.mss * 3);
        }
        if snd.is_selective() {
            if let Some(tracking) = snd.tracking.as_deref_mut() {
                tracking.board.lose_all();
            }
        } else {
            snd.go_back();
            if !moved {
                snd.nxt = (snd.una + snd.mss).min(snd.max); // the first is on its way already
            }
        }
        self.arm_rto(now);
    }

    /// Restores the window: the last loss was none. @RFC4015 sec. 3.2; the window of a fast retransmit comes back as it
    /// was.
    fn restore_window(&mut self, now: SimTime, saved: Saved, acked: u64) {
        self.counters.borrow_mut().spurious_losses += 1;
        let snd = &mut self.snd;
        if let Some(memory) = snd.undo.as_deref_mut() {
            memory.forget();
        }
        snd.recovering = None;
        snd.guard = None;
        snd.window.in_recovery = false;
        (snd.window.after_timeout, snd.window.timeout_lasts) = (false, false);
        (snd.dup_acks, snd.inflation) = (0, 0);
        snd.resend.clear();
        if snd.is_selective() {
            if let Some(tracking) = snd.tracking.as_deref_mut() {
                tracking.board.restore();
                tracking.end_recovery();
            }
        } else if snd.nxt != snd.max {
            snd.go_back(); // its records end where it had come to
            snd.nxt = snd.max;
        }
        let pipe = Bytes(u64::from(snd.pipe()));
        let window = &mut snd.window;
        if saved.timeout {
            window.ssthresh = saved.flight.max(saved.ssthresh);
            window.cwnd = window.cwnd.max(pipe + Bytes(acked).min(window.initial)).min(saved.cwnd.max(window.mss));
        } else {
            window.ssthresh = saved.ssthresh;
            window.cwnd = window.cwnd.max(saved.cwnd);
        }
        snd.cc.on_undo(window);
        if snd.nxt != snd.una {
            self.arm_rto(now);
        }
    }
}
