//! Block Ack Request, Block Ack. @80211-2020 10.25.6.5

use super::{Awaited, Counter, Exchange, Step};
use crate::Config;
use crate::ack::Solicited;
use crate::frame::{BLOCK_ACK_REQUEST, Kind};
use phy::{Mode, airtime};
use units::Dur;

/// The sequence that asks for the Block Ack of data in this mode. It goes as an RTS would.
pub(crate) fn block_ack_request(config: &Config, data: Mode, solicits: Solicited) -> Exchange {
    let mode = config.control_modes.rts_before(data);
    let (response_mode, response) = config.control_modes.response(mode, solicits.len);
    Exchange::of([Step {
        kind: Kind::BlockAckReq,
        mode,
        psdu: BLOCK_ACK_REQUEST,
        airtime: airtime(mode, BLOCK_ACK_REQUEST),
        duration: config.timing.sifs + response,
        gap: Dur::ZERO,
        response: Some(Awaited { kind: solicits.kind, timeout: config.response_timeout(response_mode) }),
        counter: Counter::Short,
    }])
}
