//! States of a connection and the ways it can fail.

/// The state of a connection. @RFC9293 sec. 3.3.2
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// No connection: before a reset's answer is out, or after all is over.
    Closed,
    /// Waits for the peer's SYN.
    Listen,
    /// Has sent (or is about to send) a SYN.
    SynSent,
    /// Has received a SYN and answered; waits for the ACK of its own.
    SynReceived,
    /// Data flows both ways.
    Established,
    /// The application has closed; the FIN is queued or sent, not acknowledged.
    FinWait1,
    /// The FIN is acknowledged; the peer may still send.
    FinWait2,
    /// The peer has closed; this end may still send.
    CloseWait,
    /// Both have closed; the FIN sent is not acknowledged yet.
    Closing,
    /// The peer has closed, then the application; waits for the ACK of the FIN.
    LastAck,
    /// Both FINs are acknowledged; answers a peer that missed the last ACK.
    TimeWait,
}

impl State {
    /// True if both ends have agreed on sequence numbers. @RFC9293 sec. 3.5.2 group 3
    pub const fn is_synchronized(self) -> bool {
        !matches!(self, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    /// True if data or a FIN may still have to be sent or resent.
    pub(crate) const fn sends(self) -> bool {
        matches!(self, State::Established | State::CloseWait | State::FinWait1 | State::Closing | State::LastAck)
    }

    /// True once the peer's FIN has come, and all before it.
    pub(crate) const fn has_all(self) -> bool {
        matches!(self, State::CloseWait | State::Closing | State::LastAck | State::TimeWait)
    }

    /// True if data from the peer is still taken.
    pub(crate) const fn receives(self) -> bool {
        matches!(self, State::Established | State::FinWait1 | State::FinWait2)
    }
}

/// The reason why a connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The peer answered the SYN with a reset.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// R2 was reached: retransmissions or probes stayed unanswered. @RFC9293 sec. 3.8.3
    TimedOut,
}
