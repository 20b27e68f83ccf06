//! Queues and packets of tests.

use crate::{Arrival, FlowKey, Limit, Mark, Queue, Spec, find};
use engine::{Purpose, Streams};
use plugin::Value;
use units::{Bytes, SimTime};

/// A queue with this discipline and these parameters; a full packet has `mtu` bytes.
pub(crate) fn queue<T>(id: &str, set: &[(&str, Value)], limit: Limit, mtu: u64) -> Queue<T> {
    let mut chosen = find(id).expect("it is in the list");
    set.iter().for_each(|(key, value)| chosen.params.set(key, *value));
    Queue::new(&Spec::new(limit, chosen), Bytes(mtu), Streams::new(1).get(Purpose::Queue, 0))
}

/// A packet of a flow, without ECN.
pub(crate) fn arrival_of(flow: u64, size: u64) -> Arrival {
    Arrival { size: Bytes(size), is_ect: false, flow: FlowKey::from_bits(u128::from(flow)) }
}

/// All that leaves now.
pub(crate) fn drain<T>(queue: &mut Queue<T>, now: SimTime) -> Vec<(T, Mark)> {
    core::iter::from_fn(|| queue.pop(now)).collect()
}
