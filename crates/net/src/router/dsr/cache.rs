//! The route cache: whole paths, as they were learned. @RFC4728 sec. 4.1

use std::net::Ipv4Addr;
use units::{Dur, SimTime};

/// The occasion on which a path was learned: each kind has room of its own, so that what is overheard drives nothing out that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learned {
    /// By a reply to this node.
    Asked,
    /// From packets that passed or ended here.
    Passing,
}

/// A path from this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// Its nodes behind this one, in order.
    pub hops: Vec<Ipv4Addr>,
    /// The time at which it is forgotten, unless it is used.
    pub until: SimTime,
    used: u64,
}

/// The paths that a node knows.
#[derive(Debug)]
pub struct Cache {
    lists: [Vec<Path>; 2],
    room: [usize; 2],
    life: Option<Dur>,
    clock: u64,
}

impl Cache {
    /// An empty cache with room for so many paths that were asked for and that passed, each remembered for so long after its use.
    pub fn new(room: [usize; 2], life: Option<Dur>) -> Cache {
        Cache { lists: [Vec::new(), Vec::new()], room, life, clock: 0 }
    }

    /// Paths in it.
    pub fn len(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    /// All paths that are not forgotten by now.
    pub fn paths(&mut self, now: SimTime) -> impl Iterator<Item = &Path> {
        self.forget(now);
        self.lists.iter().flatten()
    }

    /// Adds a path of at least one hop. It is the caller's to know that no node is on it twice. One that is in it already lives anew;
    /// one that is the beginning of it is replaced. The path that was used longest ago makes room.
    pub fn add(&mut self, now: SimTime, hops: &[Ipv4Addr], learned: Learned) {
        self.forget(now);
        self.clock += 1;
        let until = self.until(now);
        // What was asked for stands in a list of its own, whatever has passed.
        let lists = match learned {
            Learned::Asked => &mut self.lists[..1],
            Learned::Passing => &mut self.lists[..],
        };
        let mut is_known = false;
        for path in lists.iter_mut().flatten().filter(|path| path.hops.starts_with(hops)) {
            path.until = path.until.max(until);
            is_known = true;
        }
        if is_known {
            return;
        }
        self.lists[learned as usize..].iter_mut().for_each(|list| list.retain(|path| !hops.starts_with(&path.hops)));
        let list = &mut self.lists[learned as usize];
        let room = self.room[learned as usize];
        if list.len() >= room {
            let oldest = list.iter().enumerate().min_by_key(|(_, path)| path.used).map(|(at, _)| at);
            let Some(oldest) = oldest else { return };
            list.remove(oldest);
        }
        list.push(Path { hops: hops.to_vec(), until, used: self.clock });
    }

    /// The shortest way to a node among those that are fit, the first learned of several. It counts as used.
    pub fn find(
        &mut self,
        now: SimTime,
        to: Ipv4Addr,
        is_fit: impl Fn(&[Ipv4Addr]) -> bool,
    ) -> Option<Vec<Ipv4Addr>> {
        self.forget(now);
        self.clock += 1;
        let (until, clock) = (self.until(now), self.clock);
        let way = |path: &Path| {
            let end = path.hops.iter().position(|hop| *hop == to)?;
            Some(end + 1).filter(|len| is_fit(&path.hops[..*len]))
        };
        let found = self.lists.iter_mut().flatten().filter_map(|path| way(path).map(|len| (len, path)));
        let (len, path) = found.min_by_key(|(len, _)| *len)?;
        (path.until, path.used) = (path.until.max(until), clock);
        Some(path.hops[..len].to_vec())
    }

    /// True if a way to this node is known.
    pub fn knows(&mut self, now: SimTime, to: Ipv4Addr) -> bool {
        self.paths(now).any(|path| path.hops.contains(&to))
    }

    /// Cuts paths before a link that is broken. `is_it` tells of two nodes that follow each other; the first `None` is this node.
    /// True if there were some. @RFC4728 sec. 8.3.5
    pub fn cut(&mut self, is_it: impl Fn(Option<Ipv4Addr>, Ipv4Addr) -> bool) -> bool {
        let mut has_cut = false;
        for list in &mut self.lists {
            for path in list.iter_mut() {
                let before = |at: usize| at.checked_sub(1).map(|at| path.hops[at]);
                if let Some(at) = (0..path.hops.len()).find(|at| is_it(before(*at), path.hops[*at])) {
                    path.hops.truncate(at);
                    has_cut = true;
                }
            }
            list.retain(|path| !path.hops.is_empty());
        }
        has_cut
    }

    /// Forgets all of it.
    pub fn clear(&mut self) {
        self.lists.iter_mut().for_each(Vec::clear);
    }

    fn until(&self, now: SimTime) -> SimTime {
        self.life.map_or(SimTime::NEVER, |life| now + life)
    }

    fn forget(&mut self, now: SimTime) {
        self.lists.iter_mut().for_each(|list| list.retain(|path| path.until > now));
    }
}
