//! E-mail: messages of one size at exponential intervals, each on a connection of its own.
//!
//! - **Source** the traffic of @MFHA07 sec. IV: messages of 2 kB, every 120 s on the mean.
//! - **Departs** a message is a download, as a mailbox is read; the dialogue before it is one request. The paper tells neither.
//! - **Checked** tests below; `crates/world/tests/all/users.rs`.

use super::single::{Next, Single};
use super::{REQUEST, SPREAD, every, size};
use crate::{Given, Model};
use plugin::Info;
use units::Dur;

/// Its declaration.
pub static INFO: Info = Info {
    id: "email",
    summary: "Messages of one size over TCP at exponential intervals, a connection each.",
    source: "MFHA07 sec. IV",
    params: &[
        size("size", 2000, "Of a message."),
        every("every", Dur::from_secs(120), "Mean time between two messages."),
        REQUEST,
        SPREAD,
    ],
};

/// One user.
pub fn make(given: Given<'_>) -> Box<dyn Model> {
    let Given { params, draws } = given;
    let next = Next::Every(params.time("every"));
    Box::new(Single::new(params.size("size"), params.size("request"), params.time("spread"), next, u64::MAX, draws))
}

#[cfg(test)]
mod tests {
    use crate::testing::{Driver, exponential_fits};
    use plugin::Value;
    use units::{Bytes, Dur, SimTime};

    #[test]
    fn messages_are_due_at_exponential_intervals_whatever_the_network_does() {
        let mut email = Driver::new("email", &[("every", Value::Time(Dur::from_secs(120)))]);
        email.run(SimTime::ZERO + Dur::from_secs(1_200_000));
        let began: Vec<f64> = email.done.iter().map(|(began, ..)| began.as_secs_f64()).collect();
        // 10,000 are expected, with a deviation of 100; five of them.
        assert!(began.len().abs_diff(10_000) < 500, "{}", began.len());
        let gaps: Vec<f64> = began.windows(2).map(|pair| pair[1] - pair[0]).collect();
        exponential_fits(&gaps, 120.0);
        assert!(email.done.iter().all(|(_, took, bytes)| *took == Dur::from_ms(3) && *bytes == Bytes(2000)));
    }

    #[test]
    fn a_message_that_is_due_while_another_comes_waits() {
        // One a millisecond, and each takes 3: the connection is never idle, and no message is forgotten.
        let mut email = Driver::new("email", &[("every", Value::Time(Dur::from_ms(1)))]);
        email.run(SimTime::ZERO + Dur::from_secs(30));
        assert!(email.done.len() >= 9_990 && email.most_open == 1, "{}", email.done.len());
    }
}
