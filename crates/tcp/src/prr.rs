//! Proportional rate reduction: how much may leave in fast recovery. @RFC9937 sec. 6

/// The variables of one recovery, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prr {
    /// RecoverFS.
    flight: u64,
    delivered: u64,
    out: u64,
}

/// The progress that one ACK in recovery tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// DeliveredData: newly acknowledged or SACKed.
    pub delivered: u64,
    /// Bytes in the network now.
    pub pipe: u64,
    /// SafeACK: SND.UNA advanced and nothing more was lost.
    pub safe: bool,
    pub ssthresh: u64,
    pub mss: u64,
}

impl Prr {
    /// Recovery begins with `flight` bytes in flight, less what was SACKed before the ACK that begins it, with what that
    /// ACK acknowledged. @RFC9937 sec. 6.1
    pub fn begin(flight: u64) -> Prr {
        Prr { flight: flight.max(1), delivered: 0, out: 0 }
    }

    /// An ACK: the window from now on. @RFC9937 sec. 6.2
    pub fn window(&mut self, ack: Progress) -> Option<u64> {
        if ack.delivered == 0 {
            return None;
        }
        self.delivered += ack.delivered;
        let may = if ack.pipe > ack.ssthresh {
            (u128::from(self.delivered) * u128::from(ack.ssthresh)).div_ceil(u128::from(self.flight)) as i128
                - i128::from(self.out)
        } else {
            let behind = i128::from(self.delivered) - i128::from(self.out);
            let bound = behind.max(i128::from(ack.delivered)) + if ack.safe { i128::from(ack.mss) } else { 0 };
            bound.min(i128::from(ack.ssthresh) - i128::from(ack.pipe))
        };
        let may = may.max(0) as u64;
        let may = if self.out == 0 && may == 0 { ack.mss } else { may };
        Some(ack.pipe + may)
    }

    /// `bytes` leave, new or again. @RFC9937 sec. 6.3
    pub fn sent(&mut self, bytes: u32) {
        self.out += u64::from(bytes);
    }

    /// They have not left after all.
    pub fn unsent(&mut self, bytes: u32) {
        self.out = self.out.saturating_sub(u64::from(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(delivered: u64, pipe: u64, safe: bool) -> Progress {
        Progress { delivered, pipe, safe, ssthresh: 10_000, mss: 1000 }
    }

    #[test]
    fn above_ssthresh_one_leaves_for_two_that_arrive() {
        // 20 in flight, ssthresh 10: after n are delivered, n / 2 may have left.
        let mut prr = Prr::begin(20_000);
        assert_eq!(prr.window(ack(1000, 18_000, false)), Some(18_500));
        assert_eq!(prr.window(ack(1000, 17_000, false)), Some(18_000));
        prr.sent(1000);
        assert_eq!(prr.window(ack(1000, 17_000, false)), Some(17_500));
    }

    #[test]
    fn below_ssthresh_as_much_leaves_as_arrives_and_one_more_for_an_ack_of_new_data() {
        let mut prr = Prr::begin(20_000);
        prr.sent(500);
        assert_eq!(prr.window(ack(1000, 4000, false)), Some(5000)); // conservative reduction bound
        prr.sent(1000);
        assert_eq!(prr.window(ack(1000, 4000, true)), Some(6000)); // slow start reduction bound
        // Never beyond ssthresh.
        assert_eq!(prr.window(ack(1000, 9500, true)), Some(10_000));
    }

    #[test]
    fn the_first_ack_lets_a_segment_out_whatever_the_arithmetic() {
        let mut prr = Prr::begin(20_000);
        assert_eq!(prr.window(ack(1000, 10_000, false)), Some(11_000));
        assert_eq!(prr.window(ack(0, 10_000, false)), None);
    }
}
