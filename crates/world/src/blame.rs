//! The scheme that lost a packet, and its node, when the books of a run do not balance.

use crate::assembly;
use crate::interface::Interface;
use crate::results::Books;
use crate::shared::Shared;
use crate::world::World;
use schemes::Port;
use std::fmt::Write;

/// One line: scheme and node of each that is wrong, as far as can be told, and the books.
pub(crate) fn blame(world: &World, shared: &Shared, seed: u64, books: &Books) -> String {
    let names: Vec<&str> = shared.scenario.nodes.iter().map(|node| node.name.as_str()).collect();
    let mut found = Vec::new();
    let mut open = books.live as i64 - books.in_care as i64;
    for (node, name) in world.nodes.iter().zip(&names) {
        for (scheme, more) in node.chain().unaccounted() {
            found.push(format!("scheme \"{scheme}\" at \"{name}\": {}", off(more, "packets")));
            open -= more;
        }
    }
    let queues = assembly::turning(shared, seed, Port::TxQueue).unwrap_or_default();
    for Interface { node, station, .. } in &world.interfaces {
        let (i, name) = (node.index(), names[node.index()]);
        let counters = station.counters();
        let more = counters.msdus_offered as i64 - (counters.msdus_ended() + station.backlog()) as i64;
        if more != 0 {
            let of = named(queues.get(i).map_or(&[], Vec::as_slice), "the interface");
            found.push(format!("the queue of {of} at \"{name}\": {}", off(more, "MSDUs")));
            open -= more;
        }
    }
    if open != 0 {
        let recipients = assembly::turning(shared, seed, Port::Recipient).unwrap_or_default();
        for (schemes, name) in recipients.iter().zip(&names).filter(|(schemes, _)| !schemes.is_empty()) {
            let of = named(schemes, "the station");
            found.push(format!("perhaps the recipient of {of} at \"{name}\": {}", off(open, "packets in all")));
        }
    }
    let mut line = found.join("; ");
    let before = if line.is_empty() { "" } else { ". " };
    write!(line, "{before}{books:?}").expect("a string takes all");
    line
}

/// The fault of a scheme or queue that took in so many more packets than it passed on, ended and still holds.
fn off(more: i64, what: &str) -> String {
    match more {
        0.. => format!("{more} {what} neither passed on, nor ended, nor held"),
        _ => format!("holds {} {what} fewer than it says, or has ended them twice", -more),
    }
}

fn named(schemes: &[&str], nobody: &str) -> String {
    let quoted: Vec<String> = schemes.iter().map(|id| format!("scheme \"{id}\"")).collect();
    if quoted.is_empty() { nobody.to_owned() } else { quoted.join(" or ") }
}
