//! Knowledge by flow: a map that agents keep.

use units::FlowId;

/// Values by flow, in order of ids. The flow that was asked for last is found without a search: packets of one flow follow each other.
#[derive(Debug)]
pub(crate) struct FlowMap<V> {
    all: Vec<(FlowId, Box<V>)>,
    /// The place of the one that was asked for last.
    last: usize,
}

impl<V> Default for FlowMap<V> {
    fn default() -> FlowMap<V> {
        FlowMap { all: Vec::new(), last: 0 }
    }
}

impl<V> FlowMap<V> {
    /// The value of `flow`, if it has one.
    #[inline]
    pub fn get(&self, flow: FlowId) -> Option<&V> {
        match self.all.get(self.last) {
            Some((known, value)) if *known == flow => Some(value),
            _ => self.place(flow).ok().map(|at| &*self.all[at].1),
        }
    }

    /// The same, to change it.
    #[inline]
    pub fn get_mut(&mut self, flow: FlowId) -> Option<&mut V> {
        if !self.is_last(flow) {
            self.last = self.place(flow).ok()?;
        }
        self.all.get_mut(self.last).map(|(_, value)| &mut **value)
    }

    /// The value of `flow`, which is made if it has none.
    #[inline]
    pub fn get_or_insert_with(&mut self, flow: FlowId, make: impl FnOnce() -> V) -> &mut V {
        if !self.is_last(flow) {
            self.seek(flow, make);
        }
        &mut self.all[self.last].1
    }

    #[cold]
    #[inline(never)]
    fn seek(&mut self, flow: FlowId, make: impl FnOnce() -> V) {
        self.last = self.place(flow).unwrap_or_else(|at| {
            self.all.insert(at, (flow, Box::new(make())));
            at
        });
    }

    /// Takes the value of `flow` out.
    pub fn remove(&mut self, flow: FlowId) -> Option<V> {
        self.place(flow).ok().map(|at| *self.all.remove(at).1)
    }

    /// All values, in order of flows.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.all.iter().map(|(_, value)| &**value)
    }

    /// The same, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.all.iter_mut().map(|(_, value)| &mut **value)
    }

    #[inline]
    fn is_last(&self, flow: FlowId) -> bool {
        self.all.get(self.last).is_some_and(|(known, _)| *known == flow)
    }

    /// The place of `flow`, or the one at which it would stand.
    #[inline(never)]
    fn place(&self, flow: FlowId) -> Result<usize, usize> {
        self.all.binary_search_by_key(&flow, |(known, _)| *known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_what_was_put_there_in_order_whatever_was_asked_for_last() {
        let mut map = FlowMap::default();
        for n in [5, 1, 3] {
            *map.get_or_insert_with(FlowId::forward(n), || 10 * n) += 1;
        }
        assert_eq!(map.values().copied().collect::<Vec<_>>(), [11, 31, 51]);
        assert_eq!(map.get(FlowId::forward(1)), Some(&11));
        assert_eq!(*map.get_or_insert_with(FlowId::forward(5), || unreachable!("it is there")), 51);
        assert_eq!(map.remove(FlowId::forward(1)), Some(11));
        // The place that was asked for last is another flow's now, or nobody's.
        assert_eq!(map.get(FlowId::forward(5)), Some(&51));
        assert_eq!(map.get_mut(FlowId::forward(1)), None);
        assert_eq!((map.remove(FlowId::forward(5)), map.remove(FlowId::forward(5))), (Some(51), None));
        assert_eq!(map.get_mut(FlowId::forward(5)), None);
        map.values_mut().for_each(|value| *value = 7);
        assert_eq!(map.get(FlowId::forward(3)), Some(&7));
    }
}
