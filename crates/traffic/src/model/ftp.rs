//! FTP: files of one size, each on a connection of its own, one after the other.
//!
//! - **Source** the traffic of @MFHA07 sec. IV: files of 16 MB.
//! - **Departs** the control connection is left out: a request on the connection of the data stands for it. The paper tells no pause
//!   between
//!   files: back to back is a reading.
//! - **Checked** tests below; `crates/world/tests/all/users.rs`.

use super::single::{Next, Single};
use super::{REQUEST, SPREAD, size, time};
use crate::{Given, Model};
use plugin::{Info, Kind, Param, Value};
use units::Dur;

/// Its declaration.
pub static INFO: Info = Info {
    id: "ftp",
    summary: "Files of one size over TCP, a connection each, back to back or with pauses.",
    source: "MFHA07 sec. IV",
    params: &[
        size("size", 16_000_000, "Of a file."),
        time("pause", Dur::ZERO, "Mean time from the end of a file to the next; 0 s: back to back."),
        Param {
            key: "pause_draw",
            kind: Kind::Choice(&["fixed", "exponential"]),
            default: Value::Choice("fixed"),
            doc: "How pauses are distributed.",
        },
        Param {
            key: "files",
            kind: Kind::Int { min: 0, max: 1_000_000_000 },
            default: Value::Int(0),
            doc: "How many; 0: without end.",
        },
        REQUEST,
        SPREAD,
    ],
};

/// One user.
pub fn make(given: Given<'_>) -> Box<dyn Model> {
    let Given { params, draws } = given;
    let next = Next::AfterTheLast(params.time("pause"), params.choice("pause_draw") == "exponential");
    let most = match params.int("files") {
        0 => u64::MAX,
        n => n as u64,
    };
    Box::new(Single::new(params.size("size"), params.size("request"), params.time("spread"), next, most, draws))
}

#[cfg(test)]
mod tests {
    use crate::testing::{Driver, exponential_fits};
    use plugin::Value;
    use units::{Bytes, Dur, SimTime};

    #[test]
    fn files_follow_each_other_on_new_connections_until_there_are_enough() {
        let mut ftp = Driver::new("ftp", &[("size", Value::Size(Bytes(1000))), ("files", Value::Int(3))]);
        ftp.run(SimTime::ZERO + Dur::from_secs(9));
        // The driver needs 1 ms to connect and 2 ms for 300 B and 1000 B.
        assert_eq!(ftp.done, [(0, 3, 1000), (3, 3, 1000), (6, 3, 1000)].map(Driver::done));
        assert_eq!((ftp.opened, ftp.open, ftp.most_open), (3, 0, 1));
    }

    #[test]
    fn pauses_are_exponential_with_their_mean_if_asked_for() {
        let pause = ("pause", Value::Time(Dur::from_secs(1)));
        let set = [pause, ("pause_draw", Value::Choice("exponential")), ("files", Value::Int(10_001))];
        let mut ftp = Driver::new("ftp", &set);
        ftp.run(SimTime::NEVER);
        let ends = ftp.done.iter().map(|(began, took, _)| *began + *took);
        let pauses: Vec<f64> =
            ftp.done[1..].iter().zip(ends).map(|((began, ..), end)| (*began - end).as_secs_f64()).collect();
        exponential_fits(&pauses, 1.0);
        let mut even = Driver::new("ftp", &[pause, ("files", Value::Int(3))]);
        even.run(SimTime::NEVER);
        assert_eq!(even.done.iter().map(|(began, ..)| began.ns() / 1_000_000).collect::<Vec<_>>(), [0, 1003, 2006]);
    }

    #[test]
    fn a_file_that_is_lost_is_followed_by_the_next_and_after_the_end_none_follows() {
        let mut ftp = Driver::new("ftp", &[("pause", Value::Time(Dur::from_ms(10)))]);
        ftp.lose_next = 2;
        ftp.stop_at = SimTime::ZERO + Dur::from_ms(45);
        ftp.run(SimTime::ZERO + Dur::from_secs(9));
        // Lost after 1 ms: at 1 and 12; begun at 22 and 35, the one under way at 45 is none.
        assert_eq!(ftp.done.iter().map(|(began, ..)| began.ns() / 1_000_000).collect::<Vec<_>>(), [22, 35]);
        assert_eq!((ftp.lost, ftp.opened, ftp.open), (2, 4, 0));
    }
}
