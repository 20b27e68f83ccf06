//! The toy HT: airtimes by hand, responses, curves, and frames of it in a run.

use four::toy_ht::{MCS_4, MCS_10, modes};
use mac::ControlModes;
use phy::{NoSuchMode, Part, Standard, airtime, ln_survival, mode_at};
use units::{BitRate, Bytes, Dur};
use world::FrameClass;

#[test]
fn airtime_is_front_and_whole_symbols_of_156_bits() {
    // 16 + 8 · 14 + 6 = 134 bits: 1 symbol. 16 + 8 · 1500 + 6 = 12022: 77.06, so 78. 16 + 8 · 1518 + 6 = 12166: 77.99.
    for (len, symbols) in [(14, 1), (1500, 78), (1518, 78), (1519, 79)] {
        assert_eq!(airtime(MCS_4, Bytes(len)), Dur::from_us(36 + 4 * symbols), "{len} bytes in one stream");
        assert_eq!(airtime(MCS_10, Bytes(len)), Dur::from_us(40 + 4 * symbols), "{len} bytes in two streams");
    }
}

#[test]
fn a_bit_rate_alone_does_not_name_a_mode() {
    let rate = BitRate::from_kbps(39_000);
    assert_ne!(MCS_4, MCS_10);
    assert_eq!(mode_at(&modes(), rate), Err(NoSuchMode::Several(rate, vec![MCS_4, MCS_10])));
    assert!(modes().is_sorted_by_key(|mode| mode.bit_rate().bps()));
}

#[test]
fn responses_follow_the_reference_rate_and_go_in_ofdm() {
    let [slow, middle, fast] = [6, 12, 24].map(|mbps| Standard::A.mode(BitRate::from_kbps(1_000 * mbps)).unwrap());
    let control = ControlModes::of(&modes(), &[slow, middle, fast]);
    assert_eq!(control.response_to(MCS_4), fast); // not above 36 Mb/s
    assert_eq!(control.response_to(MCS_10), middle); // not above 18 Mb/s
}

#[test]
fn two_streams_of_qpsk_survive_more_noise_than_one_of_16_qam() {
    let bits = 12_000.0;
    for sinr in [4.0, 10.0, 16.0, 25.0] {
        let [one, two] = [MCS_4, MCS_10].map(|mode| ln_survival(mode, Part::Payload, sinr, bits));
        assert!(one <= two && two <= 0.0, "SINR {sinr}: {one}, {two}");
        assert_eq!(ln_survival(MCS_10, Part::Training, sinr, bits), 0.0);
    }
    assert!(ln_survival(MCS_4, Part::Payload, 16.0, bits) < ln_survival(MCS_10, Part::Payload, 16.0, bits));
    assert!(ln_survival(MCS_4, Part::Payload, 1000.0, bits) > -1e-9);
    assert!(ln_survival(MCS_4, Part::Payload, 1.0, bits) < -100.0);
}

#[test]
fn frames_of_a_run_take_the_airtime_of_their_streams() {
    // An MPDU of 24 + 8 + 1500 + 4 = 1536 bytes has 12310 bits: 79 symbols. An Ack of 134 bits has 2 at 24 Mb/s, 3 at 12.
    for (streams, data, ack) in [(1, 36 + 316, 20 + 8), (2, 40 + 316, 20 + 12)] {
        let (run, timeline) = four::run(&format!(
            r#"
            scenario = {{ duration = "100 ms" }}
            radio = {{ standard = "802.11a" }}
            node = [{{ name = "ap", role = "ap" }}, {{ name = "laptop" }}]
            flow = [{{ from = "ap", to = "laptop", traffic = {{ model = "saturated" }}, transport = {{ protocol = "udp" }} }}]
            scheme = [{{ name = "toy-ht", streams = {streams} }}]
            "#
        ));
        assert!(timeline.transmissions.len() > 200, "{}", timeline.transmissions.len());
        for sent in &timeline.transmissions {
            let expected = if sent.class == FrameClass::Ack { ack } else { data };
            assert_eq!(sent.airtime, Dur::from_us(expected), "{sent:?}");
        }
        assert!(run.flow(0, "goodput_bps").is_some_and(|rate| rate > 20e6));
    }
}
