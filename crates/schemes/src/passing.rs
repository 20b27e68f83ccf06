//! Headers of a connection as an agent on its way reads them, at neither of its ends.

use crate::Cx;
use wire::{Flags, Pkt, Seq, Tcp};

/// The largest window there is. @RFC7323 sec. 2.3
pub(crate) const SPAN: u32 = 1 << 30;

/// True if a number is further from the last ACK than any window: it belongs to another connection.
pub(crate) fn is_of_another(number: Seq, acked: Seq) -> bool {
    (number - acked).min(acked - number) > SPAN
}

/// The signals of an ACK beside number and window.
pub(crate) fn signals(tcp: &Tcp) -> Flags {
    Flags(tcp.flags.0 & (Flags::ECE | Flags::CWR | Flags::URG).0)
}

/// Keeps the later of two timestamps: their clocks run modulo 2³². @RFC7323 sec. 5.2
pub(crate) fn keep_later(known: &mut Option<u32>, stamp: u32) {
    *known = Some(known.map_or(stamp, |old| Seq(old).max(Seq(stamp)).0));
}

/// Brings the TSval of a late copy up to the latest that its host has echoed: it would discard an older one. @RFC7323 sec. 5.3
pub(crate) fn renew_tsval(copy: &Pkt, echoed: Option<u32>, cx: &mut Cx) {
    let own = cx.get(copy).tcp().and_then(|tcp| tcp.options.timestamps());
    if let (Some((tsval, _)), Some(echoed)) = (own, echoed)
        && Seq(tsval).lt(Seq(echoed))
        && let Some(header) = cx.get_mut(copy).tcp_mut()
    {
        header.options.set_tsval(echoed);
    }
}
