//! ECN on a connection: the bits of its SYNs, marks that come, and the cut for their echo. @RFC3168 sec. 6.1

use super::Connection;
use super::selective::Told;
use crate::State;
use crate::ecn::is_setup;
use crate::timers::Timer;
use units::{Bytes, SimTime};
use wire::Flags;

impl Connection {
    /// A SYN of the peer, first or later: every one of them must speak for ECN. @RFC3168 sec. 6.1.1
    pub(crate) fn agree_on_ecn(&mut self, syn: Flags) {
        self.options.ecn &= is_setup(syn);
    }

    /// The ECN bits of this end's SYN, or in SYN-RECEIVED of its SYN-ACK.
    pub(crate) fn ecn_setup(&self) -> Flags {
        match (self.options.ecn, self.state) {
            (false, _) => Flags::default(),
            (true, State::SynReceived) => Flags::ECE,
            (true, _) => Flags::ECE | Flags::CWR,
        }
    }

    /// The ECN bits of a data segment within the window.
    #[inline]
    pub(crate) fn read_marks(&mut self, flags: Flags, ce: bool) {
        if self.options.ecn {
            self.counters.borrow_mut().ecn_marks_received += u64::from(ce);
            self.rcv.echo.data(flags, ce);
        }
    }

    /// Cuts the window after an ACK with ECE. `flight` is the flight before that ACK, `prior` the cwnd before it: its
    /// growth by this ACK does not outlast the cut. @RFC3168 sec. 6.1.2
    #[cold]
    pub(crate) fn mark_echoed(&mut self, now: SimTime, flight: u64, prior: Bytes, acked: &Told) {
        let snd = &mut self.snd;
        if snd.recovering.is_some() || !snd.reduction.is_told() {
            return; // the echo of what is answered already
        }
        if snd.cc.owns_window() {
            snd.reduction.made(false); // the peer is told to stop, nothing else. As Linux with such a controller
            return;
        }
        let before = snd.window.cwnd;
        self.cut_without_loss(flight, prior, acked);
        self.counters.borrow_mut().ecn_cuts += 1;
        if before <= self.snd.window.mss {
            // It cannot be cut further: new data waits for a whole RTO.
            self.timers.set(Timer::Pace, now + self.snd.rtt.rto());
            if self.snd.nxt != self.snd.una {
                self.arm_rto(now);
            }
        }
    }
}
