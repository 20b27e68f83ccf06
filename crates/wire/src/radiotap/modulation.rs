//! The modulation of HT, VHT and HE PPDUs: the fields MCS, VHT and HE. @RADIOTAP "MCS", "VHT", "HE"
//!
//! Each field has bits that say which of its parts are known. Known are MCS, streams, bandwidth, guard interval and, where it is
//! told, coding; of HE the format SU, too. All else is unknown: STBC, beamforming, BSS colour, LTF size.

use super::present;
use crate::cursor::Cursor;
use units::Dur;

/// The format of a PPDU, and with it the field that tells its modulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// HT-mixed: the field MCS.
    Ht,
    /// VHT of one user: the field VHT.
    Vht,
    /// HE SU: the field HE.
    He,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 3] = [Format::Ht, Format::Vht, Format::He];

    /// The bit of its field in the bitmap.
    pub(super) const fn bit(self) -> u32 {
        match self {
            Format::Ht => present::MCS,
            Format::Vht => present::VHT,
            Format::He => present::HE,
        }
    }

    /// Bandwidths in MHz, and how the field spells them: primary channels inside of wider ones left out.
    const fn bandwidths(self) -> &'static [(u16, u16)] {
        match self {
            Format::Ht => &[(20, 0), (40, 1)],
            Format::Vht => &[(20, 0), (40, 1), (80, 4), (160, 11)],
            Format::He => &[(20, 0), (40, 1), (80, 2), (160, 3)],
        }
    }

    /// Guard intervals in ns, and how the field spells them.
    const fn guard_intervals(self) -> &'static [(u64, u16)] {
        match self {
            Format::Ht | Format::Vht => &[(800, 0), (400, 1)],
            Format::He => &[(800, 0), (1600, 1), (3200, 2)],
        }
    }
}

/// Forward error correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// Binary convolutional code.
    Bcc,
    /// Low-density parity check.
    Ldpc,
}

/// Modulation and coding of a PPDU's PSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modulation {
    /// Its format.
    pub format: Format,
    /// MCS, of HT counted over all streams: 0 to 31.
    pub mcs: u8,
    /// Spatial streams. The field MCS does not have them: 1 + MCS / 8.
    pub streams: u8,
    /// Bandwidth, in MHz. One that the field cannot say is left out.
    pub bandwidth_mhz: u16,
    /// The guard interval. One that the field cannot say is left out.
    pub guard_interval: Dur,
    /// Its code; `None`: unknown, which the field VHT writes as BCC.
    pub coding: Option<Coding>,
}

/// Known bits of the field MCS.
mod ht {
    pub(super) const BANDWIDTH: u8 = 0x01;
    pub(super) const MCS: u8 = 0x02;
    pub(super) const GUARD_INTERVAL: u8 = 0x04;
    pub(super) const FORMAT: u8 = 0x08;
    pub(super) const FEC: u8 = 0x10;
}

/// Known bits of the field VHT. MCS and coding have none: streams of 0 and reserved values stand for "unknown".
mod vht {
    pub(super) const GUARD_INTERVAL: u16 = 0x0004;
    pub(super) const BANDWIDTH: u16 = 0x0040;
}

/// Known bits of the field HE: of its first and of its second word.
mod he {
    pub(super) const FORMAT: u16 = 0x0003;
    pub(super) const MCS: u16 = 0x0020;
    pub(super) const CODING: u16 = 0x0080;
    pub(super) const BANDWIDTH: u16 = 0x4000;
    pub(super) const GUARD_INTERVAL: u16 = 0x0002;
}

/// Zero where there is nothing to say.
fn if_known(bit: u16, value: Option<u16>) -> u16 {
    if value.is_some() { bit } else { 0 }
}

impl Modulation {
    /// Bandwidth, guard interval and coding as the field spells them.
    fn spelt(&self) -> [Option<u16>; 3] {
        let bandwidth = self.format.bandwidths().iter().find(|(mhz, _)| *mhz == self.bandwidth_mhz);
        let guard_interval = self.format.guard_intervals().iter().find(|(ns, _)| *ns == self.guard_interval.ns());
        let coding = self.coding.map(|coding| u16::from(coding == Coding::Ldpc));
        [bandwidth.map(|it| it.1), guard_interval.map(|it| it.1), coding]
    }

    /// The field, appended where it is aligned.
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let [bandwidth, guard_interval, coding] = self.spelt();
        let or_0 = Option::<u16>::unwrap_or_default;
        match self.format {
            Format::Ht => {
                let known = if_known(ht::BANDWIDTH.into(), bandwidth)
                    | if_known(ht::GUARD_INTERVAL.into(), guard_interval)
                    | if_known(ht::FEC.into(), coding);
                let flags = or_0(bandwidth) | or_0(guard_interval) << 2 | or_0(coding) << 4;
                out.extend([known as u8 | ht::MCS | ht::FORMAT, flags as u8, self.mcs]);
            }
            Format::Vht => {
                let known = if_known(vht::BANDWIDTH, bandwidth) | if_known(vht::GUARD_INTERVAL, guard_interval);
                out.extend(known.to_le_bytes());
                out.extend([(or_0(guard_interval) << 2) as u8, or_0(bandwidth) as u8]);
                // Of four users the first.
                out.extend([self.mcs << 4 | self.streams & 0xF, 0, 0, 0]);
                out.extend([or_0(coding) as u8, 0, 0, 0]); // coding, group ID, partial AID
            }
            Format::He => {
                let known = he::MCS | if_known(he::CODING, coding) | if_known(he::BANDWIDTH, bandwidth);
                let words = [
                    known,
                    if_known(he::GUARD_INTERVAL, guard_interval),
                    u16::from(self.mcs & 0xF) << 8 | or_0(coding) << 13,
                    0,
                    or_0(bandwidth) | or_0(guard_interval) << 4,
                    u16::from(self.streams & 0xF),
                ];
                out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            }
        }
    }

    /// Reads a field. The outer `None`: it is cut short; the inner: MCS, bandwidth or guard interval is not known, or it is another
    /// format than those.
    pub(super) fn parse(format: Format, cursor: &mut Cursor<'_>) -> Option<Option<Modulation>> {
        let (is_known, mcs, streams, bandwidth, guard_interval, coding) = match format {
            Format::Ht => {
                let [known, flags, mcs] = cursor.array()?;
                let all = ht::BANDWIDTH | ht::MCS | ht::GUARD_INTERVAL | ht::FORMAT;
                let is_known = known & all == all && flags & 0x08 == 0 && mcs < 32;
                let coding = (known & ht::FEC != 0).then_some(flags >> 4 & 1);
                (is_known, mcs, 1 + mcs / 8, flags & 3, flags >> 2 & 1, coding)
            }
            Format::Vht => {
                let known = cursor.le16()?;
                let [flags, bandwidth, user, _, _, _, coding, _, _, _] = cursor.array()?;
                let all = vht::BANDWIDTH | vht::GUARD_INTERVAL;
                let is_known = known & all == all && user & 0xF != 0;
                (is_known, user >> 4, user & 0xF, bandwidth & 0x1F, flags >> 2 & 1, Some(coding & 1))
            }
            Format::He => {
                let mut word = || cursor.le16();
                let [first, second, third, _, fifth, sixth] = [word()?, word()?, word()?, word()?, word()?, word()?];
                let all = he::MCS | he::BANDWIDTH;
                let is_known =
                    first & (all | he::FORMAT) == all && second & he::GUARD_INTERVAL != 0 && sixth & 0xF != 0;
                let coding = (first & he::CODING != 0).then_some((third >> 13 & 1) as u8);
                let [mcs, streams] = [third >> 8, sixth].map(|word| (word & 0xF) as u8);
                (is_known, mcs, streams, (fifth & 0xF) as u8, (fifth >> 4 & 3) as u8, coding)
            }
        };
        let bandwidth = format.bandwidths().iter().find(|(_, spelt)| *spelt == u16::from(bandwidth));
        let guard_interval = format.guard_intervals().iter().find(|(_, spelt)| *spelt == u16::from(guard_interval));
        let coding = coding.map(|bit| if bit == 1 { Coding::Ldpc } else { Coding::Bcc });
        let whole = || {
            let (bandwidth_mhz, guard_interval) = (bandwidth?.0, Dur::from_ns(guard_interval?.0));
            Some(Modulation { format, mcs, streams, bandwidth_mhz, guard_interval, coding })
        };
        Some(if is_known { whole() } else { None })
    }
}
