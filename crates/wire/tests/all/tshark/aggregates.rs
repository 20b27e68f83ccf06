//! Block Ack Requests, A-MSDUs, and what radiotap says of aggregates and of HT, VHT and HE.

use super::record::*;
use units::{Dur, SimTime};
use wire::dot11::{
    AckPolicy, BlockAckReq, DataHeader, DurationField, Frame, FrameFlags, QosControl, SequenceControl,
};
use wire::radiotap::{AmpduStatus, Channel, Coding, Format, Modulation, Radiotap, RadiotapFlags};
use wire::{Echo, L4, Payload};

pub fn request(record: &mut Record) {
    let (flags, duration) = (FrameFlags::NONE, DurationField::covering(Dur::from_us(48)));
    let request = BlockAckReq { flags, duration, ra: node(0x0203), ta: node(1), tid: 6, start: 4_000 };
    let expected = fields(&[
        ("wlan.fcs.status", GOOD),
        ("wlan.fc.type_subtype", "24"),
        ("wlan.ra", "02:00:00:00:02:03"),
        ("wlan.ta", "02:00:00:00:00:01"),
        ("wlan.ba.control.ackpolicy", "0"),
        ("wlan.ba.control.ba_type", "0x0002"),
        ("wlan.ba.basic.tidinfo", "0x0006"),
        ("wlan.fixed.ssc.sequence", "4000"),
        ("wlan.fixed.ssc.fragment", "0"),
    ]);
    record.frame(&emitted(&Frame::BlockAckReq(request)), expected);
}

/// QoS data with one packet, or with these as an A-MSDU.
fn qos_data(payloads: &[u32]) -> Vec<u8> {
    let qos = Some(QosControl::new(5, AckPolicy::Normal));
    let header = DataHeader { qos, sequence: SequenceControl::new(9, 0), ..data_header() };
    let echo = |len: &u32| packet(L4::Echo(Echo::default()), Payload::stream(0, *len));
    let (packets, mut bytes): (Vec<_>, Vec<u8>) = (payloads.iter().map(echo).collect(), Vec::new());
    match packets.as_slice() {
        [one] => header.emit_packet(one, &mut bytes).unwrap(),
        many => {
            header.emit_amsdu(many.iter().map(|packet| (node(2), node(1), packet)), &mut bytes).unwrap();
        }
    }
    bytes
}

/// Three packets, the first two of which want padding: 14 + 8 + 20 + 8 + 1 = 51 and 53 bytes.
pub fn a_msdu(record: &mut Record) {
    let expected = fields(&[
        ("wlan.fcs.status", GOOD),
        ("wlan.fc.type_subtype", "40"),
        ("wlan.qos.tid", "5"),
        ("wlan.qos.amsdupresent", "1"),
        ("wlan_aggregate.a_mdsu.length", "37,39,76"),
        ("ip.len", "29,31,68"),
        ("icmp.checksum.status", "1,1,1"),
    ]);
    record.frame(&qos_data(&[1, 3, 40]), expected);
}

/// A PPDU of each format. Rates are those of the standard's tables: if tshark finds them, we mean the same by each field.
pub fn modulations(record: &mut Record) {
    let cases = [
        (Format::Ht, 15, 2, 40, 400, Coding::Bcc, "300", "7"),
        (Format::Ht, 7, 1, 20, 800, Coding::Ldpc, "65", "7"),
        (Format::Vht, 9, 2, 80, 400, Coding::Ldpc, "866.667", "8"),
        (Format::Vht, 0, 1, 160, 800, Coding::Bcc, "58.5", "8"),
        (Format::He, 11, 2, 80, 800, Coding::Ldpc, "1201", "11"),
        (Format::He, 0, 1, 20, 3200, Coding::Bcc, "7.3", "11"),
    ];
    for (format, mcs, streams, bandwidth_mhz, ns, coding, rate, phy) in cases {
        let guard_interval = Dur::from_ns(ns);
        let modulation = Modulation { format, mcs, streams, bandwidth_mhz, guard_interval, coding: Some(coding) };
        let header = Radiotap {
            flags: Some(RadiotapFlags::FCS_AT_END),
            channel: Some(Channel { frequency_mhz: 5180, flags: Channel::OFDM_5GHZ }),
            modulation: Some(modulation),
            ..Radiotap::default()
        };
        let (mcs, streams) = (mcs.to_string(), streams.to_string());
        let coding = if coding == Coding::Ldpc { "1" } else { "0" };
        let own = match format {
            Format::Ht => fields(&[("radiotap.mcs.index", &mcs), ("radiotap.mcs.fec", coding)]),
            Format::Vht => fields(&[
                ("radiotap.vht.mcs.0", &mcs),
                ("radiotap.vht.nss.0", &streams),
                ("radiotap.vht.coding.0", coding),
            ]),
            Format::He => fields(&[
                ("radiotap.he.data_3.data_mcs", &mcs),
                ("radiotap.he.data_6.nsts", &streams),
                ("radiotap.he.data_3.coding", coding),
            ]),
        };
        let of_all = [("wlan_radio.data_rate", rate), ("wlan_radio.phy", phy), ("wlan.fcs.status", GOOD)];
        let expected = with(&own, &of_all);
        let mut bytes = Vec::new();
        header.emit(&mut bytes);
        bytes.extend(qos_data(&[8]));
        record.write(record.air, &bytes, None, expected);
    }
}

/// Two A-MPDUs, of three MPDUs and of two.
pub fn a_mpdus(record: &mut Record) {
    for (reference, n) in [(77, 3), (78, 2)] {
        for place in 1..=n {
            let is_last = place == n;
            let modulation = Modulation {
                format: Format::Vht,
                mcs: 8,
                streams: 1,
                bandwidth_mhz: 80,
                guard_interval: Dur::from_ns(800),
                coding: Some(Coding::Ldpc),
            };
            let header = Radiotap {
                flags: Some(RadiotapFlags::FCS_AT_END),
                a_mpdu: Some(AmpduStatus { reference, is_last: Some(is_last) }),
                modulation: Some(modulation),
                ..Radiotap::default()
            };
            let mut bytes = Vec::new();
            header.with_time(SimTime::from_ns(1_000_000 * u64::from(reference))).emit(&mut bytes);
            bytes.extend(qos_data(&[8]));
            let expected = fields(&[
                ("radiotap.ampdu.reference", &reference.to_string()),
                ("radiotap.ampdu.flags.lastknown", "1"),
                ("radiotap.ampdu.flags.last", if is_last { "1" } else { "0" }),
                ("wlan_radio.a_mpdu_aggregate_id", &reference.to_string()),
                ("wlan_radio.last_part_of_an_ampdu", if is_last { "1" } else { "0" }),
                ("wlan_radio.data_rate", "351"),
                ("wlan.fcs.status", GOOD),
            ]);
            record.write(record.air, &bytes, None, expected);
        }
    }
}
