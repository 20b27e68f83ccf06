//! The scene of a run, for pictures that move: where nodes stand as it begins, and a thinned record of the air.

use crate::frames::FrameClass;
use mac::{AtAddressee, Frame};
use units::{Dur, NodeId, SimTime};

/// The frames of one class from one node to another that left the air within one bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulse {
    /// The bin, counted from the start of the run.
    pub bin: u32,
    /// Transmitter.
    pub from: NodeId,
    /// Receiver; [`NodeId::BROADCAST`] for all.
    pub to: NodeId,
    /// Their class.
    pub class: FrameClass,
    /// Their number.
    pub frames: u32,
    /// Those of which the receiver got nothing.
    pub lost: u32,
}

impl Pulse {
    /// The order of a record.
    fn key(&self) -> (u32, NodeId, NodeId, FrameClass) {
        (self.bin, self.from, self.to, self.class)
    }
}

/// The scene of a run as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The place of each node as the run begins: east and north of the origin, in metres.
    pub places: Vec<[f64; 2]>,
    /// The width of a bin.
    pub bin: Dur,
    /// In order of bin, transmitter, receiver and class.
    pub pulses: Vec<Pulse>,
}

impl Scene {
    /// The width of bins as a run begins: less than a picture of 60 a second lasts.
    pub const BIN: Dur = Dur::from_ms(10);
    /// The most pulses that are kept: 20 MB. Beyond it bins become twice as wide.
    pub const LIMIT: usize = 500_000;

    /// One in which nothing has happened.
    pub(crate) fn new() -> Scene {
        Scene { places: Vec::new(), bin: Scene::BIN, pulses: Vec::new() }
    }

    /// A frame has left the air at `now`.
    pub(super) fn frame(&mut self, now: SimTime, frame: &Frame, fate: AtAddressee) {
        let is_lost = frame.to != NodeId::BROADCAST && fate != AtAddressee::Received;
        self.put(Pulse {
            bin: (now.ns() / self.bin.ns()) as u32,
            from: frame.from,
            to: frame.to,
            class: FrameClass::of(frame.kind, frame.label),
            frames: 1,
            lost: u32::from(is_lost),
        });
    }

    /// Adds what is in the last bin, or in a later one.
    fn put(&mut self, pulse: Pulse) {
        let key = pulse.key();
        // The last bin has few pulses, and is sorted.
        let begin = self.pulses.iter().rposition(|other| other.bin != pulse.bin).map_or(0, |last| last + 1);
        match self.pulses[begin..].binary_search_by_key(&key, Pulse::key) {
            Ok(place) => {
                let known = &mut self.pulses[begin + place];
                known.frames += pulse.frames;
                known.lost += pulse.lost;
            }
            Err(place) => {
                self.pulses.insert(begin + place, pulse);
                if self.pulses.len() > Scene::LIMIT {
                    self.widen();
                }
            }
        }
    }

    /// Makes bins twice as wide.
    fn widen(&mut self) {
        self.bin = self.bin + self.bin;
        for pulse in std::mem::take(&mut self.pulses) {
            self.put(Pulse { bin: pulse.bin / 2, ..pulse });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pulse(bin: u32, from: u32, to: u32) -> Pulse {
        let (from, to) = (NodeId(from), NodeId(to));
        Pulse { bin, from, to, class: FrameClass::Udp, frames: 1, lost: bin % 2 }
    }

    #[test]
    fn pulses_of_a_bin_are_added_up_and_stand_in_order() {
        let mut scene = Scene::new();
        for (bin, from, to) in [(0, 2, 1), (0, 1, 2), (0, 2, 1), (1, 2, 1), (1, 2, 1)] {
            scene.put(pulse(bin, from, to));
        }
        let found: Vec<_> = scene.pulses.iter().map(|it| (it.bin, it.from.0, it.frames, it.lost)).collect();
        assert_eq!(found, [(0, 1, 1, 0), (0, 2, 2, 0), (1, 2, 2, 2)]);
    }

    #[test]
    fn beyond_the_limit_bins_are_wider_and_nothing_is_lost() {
        let mut scene = Scene::new();
        let all = Scene::LIMIT as u32 + 7;
        (0..all).for_each(|bin| scene.put(pulse(bin, 1, 2)));
        assert_eq!(scene.bin, Scene::BIN + Scene::BIN);
        assert!(scene.pulses.len() <= Scene::LIMIT / 2 + 8);
        assert_eq!(scene.pulses.iter().map(|it| it.frames).sum::<u32>(), all);
        assert_eq!(scene.pulses.iter().map(|it| it.lost).sum::<u32>(), all / 2);
        assert!(scene.pulses.is_sorted_by_key(Pulse::key));
    }
}
