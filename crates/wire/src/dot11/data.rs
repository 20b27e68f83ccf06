//! Data and QoS data frames, and the IP packet inside. @80211-2020 9.3.2.1, @RFC1042

use super::{DurationField, FrameFlags, HtControl, MacAddr, QosControl, SequenceControl, amsdu, fcs, kind};
use crate::cursor::Cursor;
use crate::{EmitError, FrameError, Packet};

/// LLC and SNAP header before an IPv4 packet: DSAP and SSAP AA, UI, organisation 0, EtherType 0800. @RFC1042
pub const LLC_SNAP_IPV4: [u8; 8] = [0xAA, 0xAA, 0x03, 0x00, 0x00, 0x00, 0x08, 0x00];

/// The MAC header of a data frame with three addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataHeader {
    /// Flags of Frame Control. [`FrameFlags::TO_DS`] and [`FrameFlags::FROM_DS`] give the addresses their meaning; both
    /// at once (four addresses) are not modelled.
    pub flags: FrameFlags,
    /// Reserves the medium for what follows this frame. @80211-2020 9.2.5
    pub duration: DurationField,
    /// The receiver on the air.
    pub addr1: MacAddr,
    /// The transmitter on the air.
    pub addr2: MacAddr,
    /// BSSID, source or destination, depending on the flags.
    pub addr3: MacAddr,
    /// Sequence and fragment number.
    pub sequence: SequenceControl,
    /// QoS Control; with it the frame is QoS data.
    pub qos: Option<QosControl>,
    /// HT Control, of QoS data whose flags say so. @80211-2020 9.2.4.6
    pub ht_control: Option<HtControl>,
}

/// The content of a data frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body<'a> {
    /// An IPv4 packet, or the first fragment of one, behind LLC and SNAP.
    Ip(&'a [u8]),
    /// The whole frame body of anything else: another protocol, a later fragment, an A-MSDU ([`super::Amsdu`]), ciphertext.
    Raw(&'a [u8]),
}

/// A data or QoS data frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data<'a> {
    /// The MAC header.
    pub header: DataHeader,
    /// MAC options at its end, of a frame of the reserved subtype that they have. @KLI06 figure 4.5
    pub options: Option<&'a [u8]>,
    /// The frame body.
    pub body: Body<'a>,
}

impl DataHeader {
    /// A frame in an independent BSS: To DS and From DS are zero, Address 3 is the BSSID. @80211-2020 9.3.2.1
    pub fn ibss(da: MacAddr, sa: MacAddr, bssid: MacAddr) -> DataHeader {
        let (flags, duration, sequence) = (FrameFlags::NONE, DurationField::ZERO, SequenceControl::default());
        DataHeader { flags, duration, addr1: da, addr2: sa, addr3: bssid, sequence, qos: None, ht_control: None }
    }

    /// A station's frame to its access point `bssid` for `da`. @80211-2020 9.3.2.1
    pub fn to_ap(bssid: MacAddr, sa: MacAddr, da: MacAddr) -> DataHeader {
        DataHeader { flags: FrameFlags::TO_DS, ..DataHeader::ibss(bssid, sa, da) }
    }

    /// A frame of the access point `bssid` to its station `da` from `sa`. @80211-2020 9.3.2.1
    pub fn from_ap(da: MacAddr, bssid: MacAddr, sa: MacAddr) -> DataHeader {
        DataHeader { flags: FrameFlags::FROM_DS, ..DataHeader::ibss(da, bssid, sa) }
    }

    /// The final destination. @80211-2020 9.3.2.1
    pub fn da(&self) -> MacAddr {
        if self.flags.has(FrameFlags::TO_DS) { self.addr3 } else { self.addr1 }
    }

    /// The first source. @80211-2020 9.3.2.1
    pub fn sa(&self) -> MacAddr {
        if self.flags.has(FrameFlags::FROM_DS) { self.addr3 } else { self.addr2 }
    }

    /// The BSS. @80211-2020 9.3.2.1
    pub fn bssid(&self) -> MacAddr {
        if self.flags.has(FrameFlags::TO_DS) {
            self.addr1
        } else if self.flags.has(FrameFlags::FROM_DS) {
            self.addr2
        } else {
            self.addr3
        }
    }

    /// Appends a whole frame with `packet` as its body, FCS last, without a copy of the packet's bytes in between. On an
    /// error `out` stays as it was.
    pub fn emit_packet(&self, packet: &Packet, out: &mut Vec<u8>) -> Result<(), EmitError> {
        self.emit_extended(None, packet, out)
    }

    /// As [`DataHeader::emit_packet`]; with `options` the frame has the reserved subtype, Header Length and them.
    pub fn emit_extended(&self, options: Option<&[u8]>, packet: &Packet, out: &mut Vec<u8>) -> Result<(), EmitError> {
        self.emit_around(options, out, |out| {
            out.extend(LLC_SNAP_IPV4);
            packet.emit(out)
        })
    }

    /// Appends a whole QoS data frame with an A-MSDU of packets, each behind its DA and SA, FCS last. On an error `out` stays as it was.
    /// Its QoS Control says that it has one; Address 3 is the BSSID. @80211-2020 9.3.2.1, table 9-30
    pub fn emit_amsdu<'p>(
        &self,
        msdus: impl Iterator<Item = (MacAddr, MacAddr, &'p Packet)>,
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        let Some(qos) = self.qos else { return Err(EmitError::Unsupported("an A-MSDU without QoS Control")) };
        let header = DataHeader { qos: Some(qos.with_amsdu()), ..*self };
        header.emit_around(None, out, |out| amsdu::emit(msdus, out))
    }

    /// Appends header, body and FCS; on an error nothing.
    fn emit_around(
        &self,
        options: Option<&[u8]>,
        out: &mut Vec<u8>,
        body: impl FnOnce(&mut Vec<u8>) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let start = out.len();
        let done = self.emit(options, out).and_then(|()| body(out));
        match done {
            Ok(()) => fcs::append(out, start),
            Err(_) => out.truncate(start),
        }
        done
    }

    /// Returns the reason why this header has no three-address format, if it has none.
    fn unsupported(&self) -> Option<&'static str> {
        if self.flags.has(FrameFlags::TO_DS | FrameFlags::FROM_DS) {
            Some("a data frame with four addresses")
        } else if (self.qos.is_some() && self.flags.has(FrameFlags::HTC)) != self.ht_control.is_some() {
            Some("HT Control without its flag, or the flag without it")
        } else {
            None
        }
    }

    fn emit(&self, options: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), EmitError> {
        if let Some(what) = self.unsupported() {
            return Err(EmitError::Unsupported(what));
        }
        if options.is_some() && self.flags.has(FrameFlags::HTC) {
            return Err(EmitError::Unsupported("HT Control"));
        }
        let subtype = match (options, self.qos) {
            (Some(_), _) => kind::EXTENDED_DATA,
            (None, Some(_)) => kind::QOS_DATA,
            (None, None) => kind::DATA,
        };
        let start = out.len();
        out.extend([subtype, self.flags.0]);
        out.extend(self.duration.us().to_le_bytes());
        out.extend([self.addr1, self.addr2, self.addr3].iter().flat_map(|addr| addr.0));
        out.extend(self.sequence.raw().to_le_bytes());
        // The top bit of the subtype says that it has QoS Control. @80211-2020 9.2.4.1.3
        if let Some(qos) = self.qos.or(options.map(|_| QosControl(0))) {
            out.extend(qos.0.to_le_bytes());
        }
        if let Some(control) = self.ht_control {
            out.extend(control.0.to_le_bytes());
        }
        if let Some(options) = options {
            let len = out.len() - start + 1 + options.len();
            out.push(
                u8::try_from(len).map_err(|_| EmitError::Unsupported("MAC options beyond a header of 255 bytes"))?,
            );
            out.extend_from_slice(options);
        }
        Ok(())
    }

    /// True if the body begins with the LLC header of an MSDU in the clear.
    fn has_llc(&self) -> bool {
        let amsdu = self.qos.is_some_and(QosControl::amsdu_present);
        self.sequence.fragment() == 0 && !self.flags.has(FrameFlags::PROTECTED) && !amsdu
    }
}

impl<'a> Data<'a> {
    pub(super) fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        self.header.emit(self.options, out)?;
        match self.body {
            Body::Ip(packet) => {
                out.extend(LLC_SNAP_IPV4);
                out.extend_from_slice(packet);
            }
            Body::Raw(bytes) => out.extend_from_slice(bytes),
        }
        Ok(())
    }

    /// Reads what follows the first byte.
    pub(super) fn parse(mut cursor: Cursor<'a>, is_qos: bool, has_options: bool) -> Result<Data<'a>, FrameError> {
        let mut header = DataHeader {
            flags: FrameFlags::parse(&mut cursor)?,
            duration: DurationField::parse(&mut cursor)?,
            addr1: MacAddr::parse(&mut cursor)?,
            addr2: MacAddr::parse(&mut cursor)?,
            addr3: MacAddr::parse(&mut cursor)?,
            sequence: SequenceControl::parse(&mut cursor)?,
            qos: if is_qos { Some(QosControl::parse(&mut cursor)?) } else { None },
            ht_control: None,
        };
        if is_qos && header.flags.has(FrameFlags::HTC) {
            if has_options {
                return Err(FrameError::Unsupported("HT Control"));
            }
            header.ht_control = Some(HtControl::parse(&mut cursor)?);
        }
        if let Some(what) = header.unsupported() {
            return Err(FrameError::Unsupported(what));
        }
        let options = if has_options { Some(Data::parse_options(&mut cursor)?) } else { None };
        let body = match cursor.0.strip_prefix(&LLC_SNAP_IPV4) {
            Some(packet) if header.has_llc() => Body::Ip(packet),
            _ => Body::Raw(cursor.0),
        };
        Ok(Data { header, options, body })
    }

    /// Header Length, which counts the whole MAC header, and what lies between it and the body.
    fn parse_options(cursor: &mut Cursor<'a>) -> Result<&'a [u8], FrameError> {
        const BEFORE: usize = 27; // header, QoS Control and Header Length
        let header = cursor.u8().ok_or(FrameError::Truncated("Header Length"))?;
        let len = usize::from(header).checked_sub(BEFORE).ok_or(FrameError::Malformed("Header Length"))?;
        let (options, rest) = cursor.0.split_at_checked(len).ok_or(FrameError::Truncated("MAC options"))?;
        cursor.0 = rest;
        Ok(options)
    }
}
