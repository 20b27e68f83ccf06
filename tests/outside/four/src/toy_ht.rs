//! A toy of HT-mixed in 20 MHz: MCS 4 and MCS 10, one and two streams, both 39 Mb/s.
//!
//! - **Source** IEEE Std 802.11-2020, 19.3.9 (fields), 19.4.3 (TXTIME), 19.5 (tables of MCS), 10.6.11 (reference rates).
//! - **Departs** two modes instead of 77; two streams share the power and do not interfere with each other; aRxPHYStartDelay is
//!   the end of HT-SIG.
//! - **Checked** `tests/outside/four/tests/phy_format.rs`.

use phy::curves::nist;
use phy::mode::{Field, Front, Row, Symbols};
use phy::{Coding, Format, Mode, Part, Preamble};
use schemes::{Info, Kind, Param, Params, Refusal, Site, Value};
use units::{BitRate, Dur, Hertz};

/// HT-mixed with two modes.
pub static TOY_HT: Format = Format { name: "toy HT", mandatory: &[], delimits_one: false, survival };

/// One stream of 16-QAM, code rate 3/4: 4 bits · 52 subcarriers · 3/4 are 156 data bits a symbol.
pub static MCS_4: Mode = Mode::of(&ROWS[0]);

/// Two streams of QPSK, code rate 3/4: twice 2 bits · 52 subcarriers · 3/4, the same 156.
pub static MCS_10: Mode = Mode::of(&ROWS[1]);

/// The fields before the data, with so many µs of HT-LTF.
const fn fields(ltf_us: u64) -> [Field; 6] {
    [
        Field::us("L-STF", Part::Preamble, 8),
        Field::us("L-LTF", Part::Preamble, 8),
        Field::us("L-SIG", Part::Header, 4),
        Field::us("HT-SIG", Part::Header, 8),
        Field::us("HT-STF", Part::Training, 4),
        Field::us("HT-LTF", Part::Training, ltf_us),
    ]
}

const ONE_STREAM: [Field; 6] = fields(4);
const TWO_STREAMS: [Field; 6] = fields(8);

/// Non-HT reference rates: 36 and 18 Mb/s.
static ROWS: [Row; 2] = [row(4, 1, &ONE_STREAM, Mode::ofdm(5)), row(10, 2, &TWO_STREAMS, Mode::ofdm(3))];

/// The row of an MCS with its fields and the mode of its non-HT reference rate.
const fn row(mcs: u8, streams: u8, fields: &'static [Field], reference: Mode) -> Row {
    Row {
        format: &TOY_HT,
        mcs,
        streams,
        bandwidth: Hertz(20e6),
        primary_share: 1.0,
        coding: Some(Coding::Bcc),
        guard_interval: Dur::from_ns(800),
        preamble: Preamble::Long,
        twin: None,
        bit_rate: BitRate::from_kbps(39_000),
        reference,
        front: Front::of(fields, BitRate::from_bps(0), BitRate::from_kbps(6_000)),
        rx_phy_start_delay: Dur::from_us(28), // the end of HT-SIG
        symbols: Symbols::new(Dur::from_us(4), 2 * 156, 16, 6),
        signal_extension: Dur::ZERO,
    }
}

/// Logarithm of the survival of one bit.
fn survival(mode: Mode, part: Part, sinr: f64) -> f64 {
    match part {
        Part::Preamble | Part::Training => 0.0,
        Part::Header => nist::survival(nist::BPSK, &nist::HALF, sinr),
        Part::Payload if mode.streams == 1 => nist::survival(nist::QAM16, &nist::THREE_QUARTERS, sinr),
        Part::Payload => nist::survival(nist::QPSK, &nist::THREE_QUARTERS, sinr / 2.0),
    }
}

/// The modes of a radio of 802.11a with both: in order of rate.
#[must_use]
pub fn modes() -> Vec<Mode> {
    let mut modes = phy::Standard::A.modes().to_vec();
    let place = modes.partition_point(|mode| mode.bit_rate() <= MCS_4.bit_rate());
    modes.splice(place..place, [MCS_4, MCS_10]);
    modes
}

/// Declaration of the scheme that gives a radio of 802.11a these modes.
pub const INFO: Info = Info {
    id: "toy-ht",
    summary: "radios of 802.11a have two modes of HT, and send in one of them",
    source: "none",
    params: &[Param {
        key: "streams",
        kind: Kind::Int { min: 1, max: 2 },
        default: Value::Int(1),
        doc: "spatial streams of data frames",
    }],
};

/// At all radios.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let data = if params.int("streams") == 1 { MCS_4 } else { MCS_10 };
    let basic: Vec<Mode> = phy::Standard::A.mandatory().collect();
    let mac = &mut site.radio().mac;
    mac.modes = modes();
    mac.control_modes = mac::ControlModes::of(&mac.modes, &basic);
    mac.data_rate = data;
    mac.data_rate_to.clear();
    Ok(())
}
