//! Access categories: their parameters, and how a packet finds its own. @80211-2020 10.23.2
//!
//! Four unless told otherwise; nothing here or in the station counts on that.

use phy::{Standard, Timing};
use units::Dur;

/// One access category. @80211-2020 9.4.2.28
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// As results name it.
    pub name: String,
    /// Slots of AIFS beyond SIFS: 1 or more.
    pub aifsn: u8,
    /// First contention window.
    pub cw_min: u16,
    /// Largest contention window.
    pub cw_max: u16,
    /// Longest duration of a transmit opportunity; zero: one exchange.
    pub txop_limit: Dur,
    /// The number of exchanges a transmit opportunity may have though its limit is over; 1 (or 0): the limit alone decides.
    pub txop_exchanges: u16,
    /// User priority of its frames if their packet's own leads to another category.
    pub user_priority: u8,
}

impl Category {
    /// AIFS = SIFS + AIFSN slots. @80211-2020 10.3.2.3.6
    pub fn aifs(&self, timing: &Timing) -> Dur {
        timing.sifs + timing.slot * u64::from(self.aifsn)
    }
}

/// TXOP limits of the default parameter set, which editions change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxopLimits {
    /// One exchange each.
    Zero,
    /// 802.11e and 802.11-2012: VI 3.008, VO 1.504 ms (802.11b 6.016, 3.264 ms), BK and BE one exchange.
    Dot11e,
    /// From 802.11-2016 on: BK and BE 2.528, VI 4.096, VO 2.080 ms (802.11b 3.264, 3.264, 6.016, 3.264 ms).
    /// @80211-2020 table 9-155
    Dot11,
}

/// The user priority of a packet by its DSCP, which @80211-2020 10.2.3.2 leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DscpMap {
    /// That of @RFC8325 sec. 4, as cfg80211 of Linux has it since 2023. Code points of which it says nothing go by their precedence.
    Rfc8325,
    /// The three bits of IP precedence, the class selector of a DSCP, read as 802.1D priorities (@RFC2474 sec. 4.2.2): as ns-3, and Linux
    /// until 2023.
    Precedence,
}

impl DscpMap {
    /// The user priority of packets with this TOS field.
    pub fn user_priority(self, tos: u8) -> u8 {
        let (dscp, precedence) = (tos >> 2, tos >> 5);
        match (self, dscp) {
            (DscpMap::Precedence, _) => precedence,
            // High-throughput data (AF1x); operations, administration and management (CS2): best effort.
            (DscpMap::Rfc8325, 10 | 12 | 14 | 16) => 0,
            // Low-latency data (AF2x): excellent effort.
            (DscpMap::Rfc8325, 18 | 20 | 22) => 3,
            // Broadcast video (CS3), multimedia streaming (AF3x).
            (DscpMap::Rfc8325, 24 | 26 | 28 | 30) => 4,
            // Admitted voice, telephony (EF).
            (DscpMap::Rfc8325, 44 | 46) => 6,
            // Routing (CS6) beside network control (CS7).
            (DscpMap::Rfc8325, 48) => 7,
            // Default, low-priority data (CS1), real-time interactive (CS4), conferencing (AF4x), signalling (CS5), all others.
            (DscpMap::Rfc8325, _) => precedence,
        }
    }
}

/// The categories of a QoS station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edca {
    /// By rising priority: of two granted at one instant the later one transmits.
    pub categories: Vec<Category>,
    /// The category of each user priority, as an index into `categories`.
    pub of_priority: [u8; 8],
    /// The user priority of each packet.
    pub dscp_map: DscpMap,
}

impl Edca {
    /// BK, BE, VI, VO with the default parameters, as far as a station's PHY has a say by `timing` (aCWmin, aCWmax).
    /// @80211-2020 table 9-155; user priorities by table 10-1
    pub fn standard(standard: Standard, timing: &Timing, limits: TxopLimits) -> Edca {
        let is_dsss = matches!(standard, Standard::Dsss | Standard::B);
        let txop_limit_us = match (limits, is_dsss) {
            (TxopLimits::Zero, _) => [0, 0, 0, 0],
            (TxopLimits::Dot11e, false) => [0, 0, 3008, 1504],
            (TxopLimits::Dot11e, true) => [0, 0, 6016, 3264],
            (TxopLimits::Dot11, false) => [2528, 2528, 4096, 2080],
            (TxopLimits::Dot11, true) => [3264, 3264, 6016, 3264],
        };
        let (min, max) = (timing.cw_min, timing.cw_max);
        let (half, quarter) = (min.div_ceil(2).saturating_sub(1), min.div_ceil(4).saturating_sub(1));
        let rows =
            [("bk", 7, min, max, 1), ("be", 3, min, max, 0), ("vi", 2, half, min, 5), ("vo", 2, quarter, half, 7)];
        let category = |((name, aifsn, cw_min, cw_max, user_priority), us): ((&str, _, _, _, _), u64)| {
            let txop_limit = Dur::from_us(us);
            Category { name: name.to_owned(), aifsn, cw_min, cw_max, txop_limit, txop_exchanges: 1, user_priority }
        };
        let categories = rows.into_iter().zip(txop_limit_us).map(category).collect();
        // @80211-2020 table 10-1: 1 and 2 are background, 0 and 3 best effort, 4 and 5 video, 6 and 7 voice.
        Edca { categories, of_priority: [1, 0, 0, 1, 2, 2, 3, 3], dscp_map: DscpMap::Precedence }
    }

    /// The same with what an access point uses itself where that differs from what it tells its stations: AIFSN 1 for VI and VO,
    /// CWmax 4 · aCWmin + 3 for BE. @80211-2020 annex C, dot11QAPEDCATable
    #[must_use]
    pub fn at_access_point(mut self, timing: &Timing) -> Edca {
        for category in &mut self.categories {
            match category.name.as_str() {
                "be" => category.cw_max = (4 * timing.cw_min + 3).min(timing.cw_max),
                "vi" | "vo" => category.aifsn = 1,
                _ => {}
            }
        }
        self
    }

    /// The category of a packet with this TOS field, and its user priority.
    pub fn of_tos(&self, tos: u8) -> (u8, u8) {
        let priority = self.dscp_map.user_priority(tos);
        (self.within(self.of_priority[usize::from(priority)]), priority)
    }

    /// The category, or the highest there is.
    pub fn within(&self, category: u8) -> u8 {
        category.min(self.categories.len().saturating_sub(1) as u8)
    }

    /// The user priority of a frame in `category` whose packet asks for `priority`.
    pub fn user_priority(&self, category: u8, priority: u8) -> u8 {
        if self.within(self.of_priority[usize::from(priority & 7)]) == category {
            return priority & 7;
        }
        self.categories[usize::from(category)].user_priority
    }

    /// Checks it. A mistake is a message for the author of the file.
    ///
    /// # Errors
    /// No category or more than 16 (the TIDs), an AIFSN of 0, CWmin over CWmax, a user priority over 7 or a category that is
    /// not there.
    pub fn check(&self) -> Result<(), String> {
        let n = self.categories.len();
        if n == 0 || n > 16 {
            return Err(format!("there are 1 to 16 categories, not {n}"));
        }
        for Category { name, aifsn, cw_min, cw_max, user_priority, .. } in &self.categories {
            if *aifsn == 0 {
                return Err(format!("{name}: AIFSN is 1 or more, so that AIFS is longer than SIFS"));
            }
            if cw_min > cw_max {
                return Err(format!("{name}: CWmin {cw_min} is over CWmax {cw_max}"));
            }
            if *user_priority > 7 {
                return Err(format!("{name}: user priorities are 0 to 7, not {user_priority}"));
            }
        }
        match self.of_priority.iter().find(|category| usize::from(**category) >= n) {
            Some(category) => Err(format!("user priorities lead to category {category}, and there are {n}")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(standard: Standard, limits: TxopLimits) -> Vec<(u64, u8, u16, u16, u64)> {
        let timing = standard.timing();
        let edca = Edca::standard(standard, &timing, limits);
        assert_eq!(edca.check(), Ok(()));
        let row = |c: &Category| (c.aifs(&timing).ns() / 1000, c.aifsn, c.cw_min, c.cw_max, c.txop_limit.ns() / 1000);
        edca.categories.iter().map(row).collect()
    }

    #[test]
    fn default_parameters_are_those_of_the_table() {
        // OFDM: AIFS 16 + 9 AIFSN; 802.11b: 10 + 20 AIFSN.
        let ofdm = [(79, 7, 15, 1023, 2528), (43, 3, 15, 1023, 2528), (34, 2, 7, 15, 4096), (34, 2, 3, 7, 2080)];
        assert_eq!(rows(Standard::A, TxopLimits::Dot11), ofdm);
        let dsss = [(150, 7, 31, 1023, 0), (70, 3, 31, 1023, 0), (50, 2, 15, 31, 6016), (50, 2, 7, 15, 3264)];
        assert_eq!(rows(Standard::B, TxopLimits::Dot11e), dsss);
        assert!(rows(Standard::G, TxopLimits::Zero).iter().all(|row| row.4 == 0));
    }

    #[test]
    fn an_access_point_has_a_pifs_for_video_and_voice_and_a_short_window_for_best_effort() {
        let timing = Standard::A.timing();
        let edca = Edca::standard(Standard::A, &timing, TxopLimits::Zero).at_access_point(&timing);
        let row = |c: &Category| (c.aifs(&timing).ns() / 1000, c.cw_min, c.cw_max);
        let rows: Vec<_> = edca.categories.iter().map(row).collect();
        // PIFS: 16 + 9.
        assert_eq!(rows, [(79, 15, 1023), (43, 15, 63), (25, 7, 15), (25, 3, 7)]);
        assert_eq!(edca.check(), Ok(()));
    }

    #[test]
    fn precedence_chooses_the_category_and_a_frame_moved_elsewhere_takes_that_categorys_priority() {
        let edca = Edca::standard(Standard::A, &Standard::A.timing(), TxopLimits::Zero);
        // DSCP 0, CS1, CS2, CS3, AF41 (34), CS5, EF (46), CS6, CS7.
        let dscps = [0, 8, 16, 24, 34, 40, 46, 48, 56];
        let found = dscps.map(|dscp| edca.of_tos(dscp << 2 | 0b10));
        assert_eq!(found, [(1, 0), (0, 1), (0, 2), (1, 3), (2, 4), (2, 5), (2, 5), (3, 6), (3, 7)]);
        assert_eq!([(1, 3), (3, 0), (0, 0), (2, 4)].map(|(c, up)| edca.user_priority(c, up)), [3, 7, 1, 4]);
    }

    #[test]
    fn rfc_8325_takes_telephony_for_voice_and_streams_for_video() {
        // @RFC8325 sec. 4.3, figure 1, by rising user priority.
        let classes: [(u8, &[u8]); 8] = [
            (0, &[0, 10, 12, 14, 16]), // DF, AF1x, CS2
            (1, &[8]),                 // CS1
            (2, &[]),
            (3, &[18, 20, 22]),                     // AF2x
            (4, &[24, 26, 28, 30, 32, 34, 36, 38]), // CS3, AF3x, CS4, AF4x
            (5, &[40]),                             // CS5
            (6, &[44, 46]),                         // VOICE-ADMIT, EF
            (7, &[48, 56]),                         // CS6, CS7
        ];
        for (priority, dscps) in classes {
            for dscp in dscps {
                assert_eq!(DscpMap::Rfc8325.user_priority(dscp << 2 | 0b11), priority, "{dscp}");
            }
        }
        // 47 has no name: it goes by its precedence.
        let standard = Edca::standard(Standard::A, &Standard::A.timing(), TxopLimits::Zero);
        let edca = Edca { dscp_map: DscpMap::Rfc8325, ..standard };
        assert_eq!(
            [46, 34, 18, 8, 47].map(|dscp: u8| edca.of_tos(dscp << 2)),
            [(3, 6), (2, 4), (1, 3), (0, 1), (2, 5)]
        );
    }

    #[test]
    fn parameters_that_cannot_be_are_told() {
        let of = |change: fn(&mut Edca)| {
            let mut edca = Edca::standard(Standard::A, &Standard::A.timing(), TxopLimits::Zero);
            change(&mut edca);
            edca.check().expect_err("it cannot be")
        };
        assert!(of(|edca| edca.categories[2].aifsn = 0).starts_with("vi: AIFSN"));
        assert!(of(|edca| edca.categories[0].cw_min = 2047).starts_with("bk: CWmin 2047"));
        assert!(of(|edca| edca.categories[3].user_priority = 8).starts_with("vo: user"));
        assert!(of(|edca| edca.categories.truncate(3)).contains("category 3, and there are 3"));
        assert!(of(|edca| edca.categories.clear()).contains("not 0"));
    }
}
