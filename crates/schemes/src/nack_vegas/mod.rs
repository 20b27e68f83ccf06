//! Negative ACKs: the station whose MAC discards TCP data tells its number on the next reverse ACK; the sender repeats it without a cut.
//!
//! - **Source** @CDC11: Cheng, Deng & Chao, "Congestion Control with Dynamic Threshold Adaptation and Cross-layer Response for TCP
//!   over IEEE 802.11 Wireless Networks", WINSYS 2011, sec. 3.1 (MAC) and the last part of sec. 3.2 (sender). Its thresholds are the
//!   congestion control `vegas-dynamic`; both together are the paper, either may stand alone.
//! - **Realism** no oracle with `wires = false`. Needs readable TCP headers at every station, ACKs that come back the way of the data, and
//!   middleboxes that let an unknown option pass. Nothing authenticates a number: whoever can put an option on an ACK can have a
//!   segment that is in flight sent once more, at most a congestion window's worth in a round trip.
//! - **Departs** what the paper leaves open or cannot have meant:
//!   (a) The option's layout: one for experiments with an identifier (@RFC6994), eight bytes with one number, four more for each other.
//!   (b) It goes on pure ACKs alone, so that no packet outgrows an MTU, at `Transit` or, where the sender itself is the station that
//!   discarded, at `ToHost`. An ACK that waits in the transmit queue has passed these and stays as it is: the next one tells. What does
//!   not fit beside timestamps and SACK blocks waits as well; the lowest numbers go first.
//!   (c) A number is told once. It is no longer told when an ACK covers it, when a copy of it passes this node or is delivered by
//!   it, or when a reset or a SYN ends the connection; `forget` bounds the time. No ACK comes back: nothing is told (the paper's rule).
//!   (d) A late discard, of an original whose copy is at this node already, is not told.
//!   (e) Duplicates of a number whose copy is under way begin fast recovery without a cut and without a repetition, so that new data
//!   goes on; the paper's listing does nothing. By SACK the pipe says what may leave, and no recovery begins.
//!   (f) A timeout empties the history and is a timeout. Up to the next ACK of new data what was sent before it is not repeated for
//!   a negative ACK: that is about the original. For the same reason a number that something else has repeated is not repeated for one
//!   within the least RTT from then, the handshake's before data was timed (an ACK that is held back for longer than that defeats this).
//!   (g) `wires`: a wire discards nothing, so no station would know. With it, a link tells the node that sent what it lost.
//! - **Bound** The MAC discards what was delivered if all its ACK frames are lost; then the number is wrong, and the segment is repeated
//!   unless an ACK covers it first. Pure FINs are not told of. Without a scoreboard a copy is up to a full segment from the number on.
//! - **Checked** `tests/all/nack_vegas.rs`; `every_scheme`; `tcp/tests/all/scripts/corruption.rs`; `world/tests/all/nack_vegas.rs`;
//!   figures in docs/schemes/nack-vegas.md.

mod reporter;
mod sender;

use crate::{Field, Info, Kind, Param, Params, Place, Refusal, Site, Value};
use reporter::Reporter;
use sender::{Counts, Sender};
use std::rc::Rc;
use units::Dur;

/// Its declaration.
pub const INFO: Info = Info {
    id: "nack-vegas",
    summary: "a station tells on the next reverse ACK which TCP data its MAC discarded; the sender repeats it without a cut",
    source: "CDC11",
    params: &[
        Param {
            key: "history",
            kind: Kind::Int { min: 1, max: 1024 },
            default: Value::Int(16),
            doc: "numbers of corrupted segments that a sender remembers, and that a station keeps to be told, for each flow",
        },
        Param {
            key: "retransmit",
            kind: Kind::Bool,
            default: Value::Bool(true),
            doc: "repeat at once; if not, three duplicates repeat, without a cut",
        },
        Param {
            key: "wires",
            kind: Kind::Bool,
            default: Value::Bool(false),
            doc: "what a wire lost is told as well, which no real wire knows",
        },
        Param {
            key: "forget",
            kind: Kind::Time { min: Dur::from_ms(1), max: Dur::from_secs(100_000) },
            default: Value::Time(Dur::from_secs(60)),
            doc: "after so long without a packet of a flow a station forgets it",
        },
    ],
};

/// The reporter at nodes with a radio (with `wires` at all), the sender's half where flows have an end.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    let (history, wires) = (params.int("history") as usize, params.bool("wires"));
    let reports = site.node.has_air || wires;
    let obeys = site.node.starts_flows || site.node.ends_flows;
    if !reports && !obeys {
        return Ok(());
    }
    site.reads_tcp();
    let counts = Rc::new(Counts::default());
    let own = obeys.then(|| Rc::clone(&counts));
    let seat = site.agent(Reporter::new(history, params.time("forget"), reports, own));
    if reports {
        let mut seat = seat.listen([Place::FromHost, Place::Transit, Place::ToHost]).rewrites(Field::Options);
        if wires {
            seat = seat.wire_losses();
        }
        seat.reports();
    }
    if obeys {
        let retransmits = params.bool("retransmit");
        site.hook_sender(move |_| Some(Box::new(Sender::new(history, retransmits, Rc::clone(&counts)))));
    }
    Ok(())
}
