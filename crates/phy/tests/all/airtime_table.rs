//! Airtimes against `validation/airtime/table.csv`: 300 rows in exact rational arithmetic, by a program that shares
//! nothing with this one. Tolerance: none, an airtime is a whole number of microseconds.

use phy::{Preamble, Standard, airtime};
use units::{BitRate, Bytes, Dur};

const TABLE: &str = include_str!("../../../../validation/airtime/table.csv");

fn standard(name: &str) -> Standard {
    match name {
        "802.11" => Standard::Dsss,
        "802.11b" => Standard::B,
        "802.11a" => Standard::A,
        "802.11g" => Standard::G,
        other => panic!("the table names {other}"),
    }
}

#[test]
fn every_row_of_the_table_is_met_to_the_microsecond() {
    let mut lines = TABLE.lines();
    assert_eq!(lines.next(), Some("standard,preamble,rate_mbps,frame,mpdu_bytes,airtime_us"));
    let mut rows = 0;
    for line in lines {
        let [name, preamble, mbps, _, bytes, us] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("six columns: {line}")
        };
        // "ofdm" has a preamble of its own, whatever the station would use for DSSS: ask with either.
        let asked = match preamble {
            "long" => vec![Preamble::Long],
            "short" => vec![Preamble::Short],
            _ => vec![Preamble::Long, Preamble::Short],
        };
        let kbps = (mbps.parse::<f64>().unwrap() * 1000.0) as u64;
        let rate = standard(name).mode(BitRate::from_kbps(kbps)).expect("the table has rates of the standard");
        for preamble in asked {
            let got = airtime(rate.with_preamble(preamble), Bytes(bytes.parse().unwrap()));
            assert_eq!(got, Dur::from_us(us.parse().unwrap()), "{line}");
        }
        rows += 1;
    }
    assert_eq!(rows, 300);
}
