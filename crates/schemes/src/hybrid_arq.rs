//! Hybrid ARQ: retransmission alone (type 0), forward error correction on every transmission (type I), or on retransmissions only
//! (type II).
//!
//! - **Source** @DSDK14 section 2.1, after @BF04: "In a Type 0 scheme, recovery for losses is offered only through ARQ"; in type I the
//!   "initial transmission is protected using FEC. If this fails, ARQ is used to repeat the transmission"; in type II "ARQ is used
//!   first followed by FEC".
//! - **Realism** a block code over the whole PSDU, MAC header included, above the modulation's own: no 802.11 radio has one.
//!   Receivers must know it, so both ends of a link announce it with its parameters.
//! - **Departs** what the sources leave open:
//!   (a) The code is (n, k, t), binary, over bits that err independently: a PSDU survives if every block has at most t wrong
//!   bits. A receiver notices what it could not mend (FCS). Which code that is matters to nobody here; parameters beyond the Hamming bound
//!   are an input error.
//!   (b) The receiver keeps nothing of a failed copy: each is decoded by itself. The literature's type II combines copies.
//!   (c) A retransmission in type I repeats the coded frame. RTS, CTS and ACK are never coded, nor are frames to groups.
//!   (d) An exchange that failed at its RTS counts as a transmission: in type II what follows is coded.
//! - **Bound** `errors = { model = "bit", … }`, or a two-state one of bits, drawn for each attempt. With other models, where nothing is
//!   known of bits, and with error curves, the code costs its airtime and mends nothing.
//! - **Checked** `tests/all/hybrid_arq.rs`; `phy` (`code`, `errors`); `world/tests/all/hybrid_arq.rs` (the closed form).

use crate::{Agent, Cx, Info, Kind, Param, Params, PeerEvent, Refusal, Site, Value};
use mac::{Msdu, Transmit};
use phy::{BlockCode, TxVector};
use std::cell::RefCell;
use std::rc::Rc;
use units::NodeId;
use wire::Packet;

/// Its declaration.
pub const INFO: Info = Info {
    id: "hybrid-arq",
    summary: "a block code on all transmissions of data (type I), on retransmissions (II), or on none (0)",
    source: "DSDK14 section 2.1",
    params: &[
        Param {
            key: "type",
            kind: Kind::Choice(&["0", "I", "II"]),
            default: Value::Choice("II"),
            doc: "what is coded: nothing, every transmission, or every one but the first",
        },
        Param {
            key: "n",
            kind: Kind::Int { min: 1, max: 4095 },
            default: Value::Int(255),
            doc: "bits of a block on the air",
        },
        Param {
            key: "k",
            kind: Kind::Int { min: 1, max: 4095 },
            default: Value::Int(223),
            doc: "bits of the frame in a block; no more than n",
        },
        Param {
            key: "t",
            kind: Kind::Int { min: 0, max: 255 },
            default: Value::Int(4),
            doc: "wrong bits of a block that are mended; (255, 223, 4) is a code of Bose, Chaudhuri and Hocquenghem",
        },
    ],
};

/// At every node with a radio.
pub fn install(site: &mut Site, params: &Params) -> Result<(), Refusal> {
    if !site.node.has_air {
        return Ok(());
    }
    let [n, k, t] = ["n", "k", "t"].map(|key| params.int(key));
    let Some(code) = BlockCode::new(n as u16, k as u16, t as u8) else {
        let what = format!("there is no block code (n, k, t) = ({n}, {k}, {t})");
        let why = if k > n { "k is more than n" } else { "n - k check bits cannot tell t errors apart" };
        return Err(format!("{what}: {why}; write a smaller t or k, as in (255, 223, 4)").into());
    };
    let from = match params.choice("type") {
        "0" => None,
        "I" => Some(0),
        _ => Some(1),
    };
    if from.is_some() {
        site.excludes_block_ack("its block code covers a whole PSDU, not each MPDU of many");
    }
    let detail = (n << 20 | k << 8 | t) as u32;
    let partners = Rc::new(RefCell::new(vec![false; site.node.nodes]));
    site.announce(detail);
    site.agent(Meet { detail, partners: Rc::clone(&partners) });
    site.transmit(Coder { code, from, partners });
    Ok(())
}

/// Notes which neighbours can decode.
#[derive(Debug)]
struct Meet {
    detail: u32,
    partners: Rc<RefCell<Vec<bool>>>,
}

impl Agent for Meet {
    fn peer(&mut self, node: NodeId, event: PeerEvent<'_>, _: &mut Cx) {
        self.partners.borrow_mut()[node.index()] = event.announced(INFO.id) == Some(self.detail);
    }
}

/// Codes what goes out.
#[derive(Debug)]
struct Coder {
    code: BlockCode,
    /// After how many transmissions of an MSDU the next is coded; `None`: never.
    from: Option<u8>,
    partners: Rc<RefCell<Vec<bool>>>,
}

impl Transmit for Coder {
    fn tx_vector(&mut self, msdu: &Msdu, _: &Packet, own: TxVector) -> TxVector {
        let can_decode = self.partners.borrow().get(msdu.to.index()).copied().unwrap_or(false);
        match self.from {
            Some(from) if msdu.attempts >= from && can_decode => TxVector { code: Some(self.code), ..own },
            _ => own,
        }
    }
}
