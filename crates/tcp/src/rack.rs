//! RACK and TLP: losses by time instead of by count, and a probe for a loss at the tail. @RFC8985

use crate::scoreboard::Segment;
use units::{Dur, SimTime};
use wire::{Seq, SeqRange};

/// RACK.* of @RFC8985 sec. 5.2, 5.3
#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// RACK.segment: when the youngest segment that arrived left, and where it ends. None before the first.
    newest: Option<(SimTime, Seq)>,
    /// RACK.rtt: of that segment.
    rtt: Dur,
    /// RACK.fack: the highest number that arrived, and as it stood before the ACK at hand: what one ACK tells has no order.
    fack: Option<Seq>,
    before: Option<Seq>,
    reordering_seen: bool,
    /// RACK.reo_wnd_mult, less one.
    widened: u32,
    /// Recoveries for which the window stays widened.
    persist: u32,
    /// RACK.dsack_round.
    dsack_round: Option<Seq>,
}

/// Recoveries for which a DSACK widens the reordering window. @RFC8985 sec. 6.2 step 4
const PERSIST: u32 = 16;

/// The sender's state when the reordering window is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    pub min_rtt: Dur,
    pub srtt: Option<Dur>,
    /// Fast recovery or recovery from a timeout lasts.
    pub recovering: bool,
    /// At least DupThresh segments are SACKed.
    pub enough_sacked: bool,
}

/// True if the segment that left at `a` and ends at `a_end` left after the other. @RFC8985 sec. 6.2 step 2,
/// RACK_sent_after
fn sent_after(a: SimTime, a_end: Seq, b: SimTime, b_end: Seq) -> bool {
    a > b || a == b && b_end.lt(a_end)
}

impl Rack {
    /// `segment` has arrived. `of_original` if a timestamp tells that not the last copy of it did. @RFC8985 sec. 6.2 steps 2, 3
    pub fn deliver(&mut self, now: SimTime, segment: &Segment, of_original: bool, min_rtt: Dur) {
        let rtt = now.since(segment.sent);
        let end = segment.range.end;
        if !(segment.repeated && (of_original || rtt < min_rtt)) {
            self.rtt = rtt;
            if self.newest.is_none_or(|(sent, last)| sent_after(segment.sent, end, sent, last)) {
                self.newest = Some((segment.sent, end));
            }
        }
        if self.before.is_some_and(|fack| end.lt(fack)) {
            self.reordering_seen |= !segment.repeated;
        }
        self.fack = Some(self.fack.map_or(end, |fack| fack.max(end)));
    }

    /// An ACK is about to be read.
    pub fn begin(&mut self) {
        self.before = self.fack;
    }

    /// A DSACK came, with `una` acknowledged and `nxt` sent: the window was too narrow. @RFC8985 sec. 6.2 step 4
    pub fn duplicate_seen(&mut self, una: Seq, nxt: Seq) {
        if self.dsack_round.is_some_and(|round| round.le(una)) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() {
            self.dsack_round = Some(nxt);
            self.widened += 1;
            self.persist = PERSIST;
        }
    }

    /// Recovery is over.
    pub fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.widened = 0;
        }
    }

    /// The reordering window. @RFC8985 sec. 6.2 step 4, RACK_update_reo_wnd
    pub fn window(&self, cx: &Context) -> Dur {
        if !self.reordering_seen && (cx.recovering || cx.enough_sacked) {
            return Dur::ZERO;
        }
        let window = cx.min_rtt * u64::from(self.widened + 1) / 4;
        cx.srtt.map_or(window, |srtt| window.min(srtt))
    }

    /// The time that `segment` may still take; `None` if no segment that left after it has arrived. Zero: it is lost.
    /// @RFC8985 sec. 6.2 step 5
    pub fn remaining(&self, segment: &Segment, window: Dur, now: SimTime) -> Option<Dur> {
        let (sent, end) = self.newest?;
        if !sent_after(sent, end, segment.sent, segment.range.end) {
            return None;
        }
        let deadline = segment.sent + self.rtt + window;
        Some(if deadline <= now { Dur::ZERO } else { deadline - now })
    }

    /// True if a timeout takes `segment`, which is not the first, for lost. @RFC8985 sec. 6.3
    pub fn timed_out(&self, segment: &Segment, window: Dur, now: SimTime) -> bool {
        segment.sent + self.rtt + window <= now
    }
}

/// The tail loss probe. TLP.* of @RFC8985 sec. 7
#[derive(Debug, Default)]
pub(crate) struct Probe {
    /// TLP.end_seq: SND.NXT when the probe left. None if no probe is out.
    pub end: Option<Seq>,
    /// The probe.
    pub range: SeqRange,
    /// TLP.is_retrans: the probe was no new data.
    pub repeats: bool,
    /// The timer has expired: the next segment is the probe.
    pub due: bool,
}

/// The finding at the end of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProbeResult {
    /// Nothing yet, or there is no probe.
    Open,
    /// Nothing was lost, or what was is known otherwise.
    NoLoss,
    /// The probe repaired a loss that nothing else would have told: the window is to be cut.
    Repaired,
}

impl Probe {
    /// An ACK. `duplicate` if it acknowledges nothing and has no SACK block; `dsack` if it tells that the last segment came
    /// twice. @RFC8985 sec. 7.4.2, TLP_process_ack
    pub fn judge(&mut self, ack: Seq, duplicate: bool, dsack: bool) -> ProbeResult {
        let Some(end) = self.end.filter(|end| end.le(ack)) else { return ProbeResult::Open };
        let verdict = if !self.repeats || dsack {
            ProbeResult::NoLoss
        } else if end.lt(ack) {
            ProbeResult::Repaired
        } else if duplicate {
            ProbeResult::NoLoss
        } else {
            return ProbeResult::Open;
        };
        self.end = None;
        verdict
    }
}

/// PTO: how long after the last transmission or ACK the probe leaves. @RFC8985 sec. 7.2, TLP_calc_PTO
pub(crate) fn probe_timeout(srtt: Option<Dur>, one_segment: bool) -> Dur {
    /// WCDelAckT: the longest delay of an ACK.
    const DELAYED_ACK: Dur = Dur::from_ms(200);
    match srtt {
        None => Dur::from_secs(1),
        Some(srtt) => srtt * 2 + if one_segment { DELAYED_ACK } else { Dur::ZERO },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Stamp;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + Dur::from_ms(ms)
    }

    fn segment(i: u32, sent_ms: u64, repeated: bool) -> Segment {
        let range = SeqRange::new(Seq(i * 100), 100);
        let stamp = Stamp::default();
        Segment { range, sent: at(sent_ms), stamp, sacked: false, lost: false, again: false, repeated }
    }

    const CX: Context = Context {
        min_rtt: Dur::from_ms(100),
        srtt: Some(Dur::from_ms(120)),
        recovering: false,
        enough_sacked: false,
    };

    #[test]
    fn lost_is_what_left_a_quarter_of_the_least_rtt_before_what_arrived() {
        let mut rack = Rack::default();
        rack.deliver(at(110), &segment(3, 10, false), false, Dur::from_ms(100));
        let window = rack.window(&CX);
        assert_eq!(window, Dur::from_ms(25));
        // The second left at 1 ms: it may take 1 + 100 + 25 ms.
        assert_eq!(rack.remaining(&segment(1, 1, false), window, at(110)), Some(Dur::from_ms(16)));
        assert_eq!(rack.remaining(&segment(1, 1, false), window, at(126)), Some(Dur::ZERO));
        assert_eq!(rack.remaining(&segment(4, 10, false), window, at(500)), None);
    }

    #[test]
    fn without_reordering_the_window_is_nothing_in_recovery_or_once_enough_is_sacked() {
        let mut rack = Rack::default();
        rack.deliver(at(110), &segment(3, 10, false), false, Dur::from_ms(100));
        assert_eq!(rack.window(&Context { recovering: true, ..CX }), Dur::ZERO);
        assert_eq!(rack.window(&Context { enough_sacked: true, ..CX }), Dur::ZERO);
        // The first arrives after the fourth, and was never sent again: reordering.
        rack.begin();
        rack.deliver(at(115), &segment(0, 0, false), false, Dur::from_ms(100));
        assert_eq!(rack.window(&Context { recovering: true, ..CX }), Dur::from_ms(25));
    }

    #[test]
    fn duplicates_widen_the_window_once_a_round_up_to_srtt_and_for_16_recoveries() {
        let mut rack = Rack::default();
        for (una, nxt) in [(100, 500), (200, 600), (500, 900), (900, 1200), (1200, 1500), (1500, 1600)] {
            rack.duplicate_seen(Seq(una), Seq(nxt));
        }
        // Five rounds: 6 quarters of 100 ms are more than SRTT.
        assert_eq!(rack.window(&CX), Dur::from_ms(120));
        for _ in 0..15 {
            rack.recovered();
        }
        assert_eq!(rack.window(&CX), Dur::from_ms(120));
        rack.recovered();
        assert_eq!(rack.window(&CX), Dur::from_ms(25));
    }

    #[test]
    fn a_copy_that_seems_to_come_back_too_soon_is_the_original() {
        let mut rack = Rack::default();
        rack.deliver(at(110), &segment(3, 10, false), false, Dur::from_ms(100));
        rack.deliver(at(160), &segment(0, 110, true), false, Dur::from_ms(100)); // after 50 ms
        assert_eq!(rack.newest, Some((at(10), Seq(400))));
        rack.deliver(at(230), &segment(1, 110, true), true, Dur::from_ms(100)); // a timestamp says so
        assert_eq!((rack.newest, rack.rtt), (Some((at(10), Seq(400))), Dur::from_ms(100)));
        rack.deliver(at(231), &segment(2, 111, true), false, Dur::from_ms(100));
        assert_eq!((rack.newest, rack.rtt), (Some((at(111), Seq(300))), Dur::from_ms(120)));
    }

    #[test]
    fn a_probe_is_judged_by_the_ack_that_covers_it() {
        let probe = |repeats| Probe { end: Some(Seq(500)), repeats, ..Probe::default() };
        assert_eq!(probe(true).judge(Seq(400), true, false), ProbeResult::Open);
        assert_eq!(probe(false).judge(Seq(500), false, false), ProbeResult::NoLoss);
        assert_eq!(probe(true).judge(Seq(500), false, true), ProbeResult::NoLoss);
        assert_eq!(probe(true).judge(Seq(500), false, false), ProbeResult::Open);
        assert_eq!(probe(true).judge(Seq(500), true, false), ProbeResult::NoLoss);
        assert_eq!(probe(true).judge(Seq(600), false, false), ProbeResult::Repaired);
    }

    #[test]
    fn the_probe_waits_for_two_round_trips_and_a_lone_segment_for_a_delayed_ack_too() {
        assert_eq!(probe_timeout(Some(Dur::from_ms(50)), false), Dur::from_ms(100));
        assert_eq!(probe_timeout(Some(Dur::from_ms(50)), true), Dur::from_ms(300));
        assert_eq!(probe_timeout(None, true), Dur::from_secs(1));
    }
}
