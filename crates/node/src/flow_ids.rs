//! Numbers of connections.

use units::FlowId;

/// The numbers of all connections of a network: one table gives them, whoever opens a connection, so that no two that are open have one
/// number. The place of a connection that has closed is used again, with another generation.
#[derive(Debug, Clone, Default)]
pub struct FlowIds {
    /// The forward direction of the connection at each place; [`FlowId::NONE`] where there is none now.
    open: Vec<FlowId>,
    /// Places whose connection has closed, with the generation of the next.
    free: Vec<(u32, u16)>,
}

impl FlowIds {
    /// A table in which the first `n` places are taken, each by its first generation.
    pub fn first(n: u32) -> FlowIds {
        FlowIds { open: (0..n).map(FlowId::forward).collect(), free: Vec::new() }
    }

    /// True if the connection of this direction is open.
    #[inline]
    pub fn is_open(&self, id: FlowId) -> bool {
        self.open.get(id.connection()) == Some(&id.opened())
    }

    /// The forward direction of the connection at `place`, one of [`FlowIds::places`]; [`FlowId::NONE`] where there is none now.
    #[inline]
    pub fn at(&self, place: u32) -> FlowId {
        self.open[place as usize]
    }

    /// The number of places, those that are free now among them.
    pub fn places(&self) -> usize {
        self.open.len()
    }

    /// True if the next connection needs a place of its own.
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Opens a connection and returns its forward direction; `None` if [`FlowId::MOST_CONNECTIONS`] are open.
    pub fn open(&mut self) -> Option<FlowId> {
        if let Some((place, generation)) = self.free.pop() {
            let id = FlowId::of_generation(place, generation);
            self.open[place as usize] = id;
            return Some(id);
        }
        if self.open.len() == FlowId::MOST_CONNECTIONS {
            return None;
        }
        let id = FlowId::forward(self.open.len() as u32);
        self.open.push(id);
        Some(id)
    }

    /// Closes a connection: its number is nobody's. Returns whether it was open.
    pub fn close(&mut self, id: FlowId) -> bool {
        if !self.is_open(id) {
            return false;
        }
        self.open[id.connection()] = FlowId::NONE;
        self.free.push((id.connection() as u32, id.generation().wrapping_add(1)));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_given_again_only_with_another_generation() {
        let mut ids = FlowIds::first(2);
        let third = ids.open().expect("there is room");
        assert_eq!((third, ids.places(), ids.is_full()), (FlowId::forward(2), 3, true));
        assert!(ids.close(third.reverse()) && !ids.close(third), "either direction closes it, once");
        assert!(!ids.is_open(third) && ids.at(2) == FlowId::NONE && !ids.is_full());
        let next = ids.open().expect("there is room");
        assert_eq!((next, ids.at(2), ids.places()), (FlowId::of_generation(2, 1), next, 3));
        assert!(ids.is_open(next.reverse()) && !ids.is_open(third) && !ids.is_open(FlowId::NONE));
    }

    #[test]
    fn a_full_table_opens_nothing_until_something_has_closed() {
        let mut ids = FlowIds::first(FlowId::MOST_CONNECTIONS as u32);
        assert_eq!(ids.open(), None);
        assert!(ids.close(FlowId::forward(7)));
        assert_eq!((ids.open(), ids.open()), (Some(FlowId::of_generation(7, 1)), None));
    }
}
