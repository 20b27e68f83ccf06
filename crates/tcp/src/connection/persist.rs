//! The persist timer: probes of a closed window, and the override of silly-window avoidance. @RFC9293 sec. 3.8.6.1

use super::Connection;
use super::sender::Chosen;
use crate::Why;
use crate::timers::Timer;
use units::SimTime;

impl Connection {
    /// Nothing is in flight and nothing may be sent. If the peer's window is the reason, the timer runs, or the probe
    /// it asked for goes out: one byte beyond a closed window (the FIN, if
    /// nothing else is left), or what an open but silly one allows
    /// (@RFC9293 sec. 3.8.6.2.1 (4)).
    #[inline(always)]
    pub(crate) fn persist(&mut self, now: SimTime) -> Option<Chosen> {
        if !self.snd.waits_for_window() {
            self.timers.stop(Timer::Persist);
            self.snd.probes = 0;
            return None;
        }
        if core::mem::take(&mut self.snd.probe_due) {
            let seq = self.snd.nxt;
            let queued = self.snd.data_end() - seq;
            if self.snd.wnd > 0 {
                return Some(Chosen { seq, len: queued.min(self.snd.wnd), fin: false, advances: true });
            }
            self.counters.borrow_mut().zero_window_probes += 1;
            return Some(Chosen { seq, len: queued.min(1), fin: queued == 0, advances: false });
        }
        if !self.timers.is_set(Timer::Persist) {
            // First after an RTO, then backing off like it.
            let rto = self.snd.rtt.rto().ns() << self.snd.probes.min(16);
            let wait = units::Dur::from_ns(rto).min(self.config.max_rto);
            self.timers.set(Timer::Persist, now + wait);
        }
        None
    }

    /// The timer expired. A peer that answers may keep its window closed for ever; one that is silent fails.
    pub(crate) fn persist_timeout(&mut self) {
        self.snd.probes += 1;
        self.snd.probes_unanswered += 1;
        if self.snd.probes_unanswered > self.config.max_retries {
            self.enter_closed(Some(Why::TimedOut));
        } else {
            self.snd.probe_due = true;
        }
    }
}
