//! Listeners that change nothing: fingerprints, captures, time series, the timeline of the air, the scene of a picture and the stories of
//! its frames. No result bit changes with them.

mod captures;
mod ids;
mod paths;
mod scene;
mod series;
mod story;
mod timeline;

pub(crate) use captures::{Attachments, Captures};
pub(crate) use ids::{QueueIds, category_id, interface_id, queue_ids};
pub use paths::{Meeting, Paths, Walked};
pub use scene::{Pulse, Scene};
pub use series::Column;
pub(crate) use series::Series;
pub use story::{Access, Arrival, Portion, Settled, Stop, Story};
pub use timeline::{Carried, Outcome, Timeline, Transmission, Window};

use crate::flow::Flow;
use crate::interface::Interface;
use engine::Fingerprint;
use mac::{AtAddressee, Channel, Frame, Got, Receptions, TxReport};
use motion::Leg;
use net::Wire;
use std::io;
use units::{ChannelId, Dur, LinkId, NodeId, SimTime};
use wire::{Packet, Packets};

/// The recordings of a run.
#[derive(Debug, Default)]
pub(crate) struct Taps {
    prints: Option<[Fingerprint; 3]>,
    captures: Option<Captures>,
    series: Option<Series>,
    paths: Option<Paths>,
    timeline: Option<Timeline>,
    scene: Option<Scene>,
    story: Option<Story>,
    is_on: bool,
}

/// One of the three fingerprints.
#[derive(Clone, Copy)]
enum Layer {
    Phy,
    Mac,
    Tcp,
}

impl Taps {
    pub fn new(
        fingerprint: bool,
        captures: Option<Captures>,
        series: Option<Series>,
        timeline: Option<Timeline>,
        scene: Option<Scene>,
    ) -> Taps {
        let prints = fingerprint.then(Default::default);
        let is_on = fingerprint || captures.is_some() || series.is_some() || timeline.is_some() || scene.is_some();
        let paths = (series.is_some() || scene.is_some()).then(Paths::default);
        // Stories are told of a picture whose frames are known one by one.
        let story = timeline.as_ref().filter(|_| scene.is_some()).map(|timeline| Story::new(timeline.window));
        Taps { prints, captures, series, paths, timeline, scene, story, is_on }
    }

    fn print(&mut self, layer: Layer, words: &[u64]) {
        if let Some(prints) = &mut self.prints {
            words.iter().for_each(|word| prints[layer as usize].add(*word));
        }
    }

    /// A frame has left the air of a channel with this fate, and these machines are told of it.
    #[inline]
    pub fn frame(
        &mut self,
        now: SimTime,
        frame: &Frame,
        fate: AtAddressee,
        to: &Receptions,
        of: (ChannelId, &Channel),
        packets: &Packets,
    ) {
        if self.is_on {
            self.left(now, frame, fate, to, of, packets);
        }
    }

    #[cold]
    fn left(
        &mut self,
        now: SimTime,
        frame: &Frame,
        fate: AtAddressee,
        to: &Receptions,
        (on, channel): (ChannelId, &Channel),
        packets: &Packets,
    ) {
        let seq = frame.data().map_or(0, |data| data.seq);
        self.print(
            Layer::Phy,
            &[now.ns(), u64::from(frame.from.0), frame.kind as u64, frame.psdu.len().0, u64::from(seq)],
        );
        for reception in to.iter() {
            let is_for_me = matches!(reception.got, Got::Mpdus(_));
            self.print(Layer::Phy, &[u64::from(reception.node.0), u64::from(is_for_me)]);
        }
        if let Some(captures) = &mut self.captures {
            captures.frame(now, on, frame, to, packets);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.put(now, frame, Some((fate, to)), channel, packets);
        }
        if let Some(scene) = &mut self.scene {
            scene.frame(now, frame, fate);
        }
        if let Some(story) = &mut self.story {
            story.frame(now, frame, on, channel, packets);
        }
    }

    /// The run is over, and `frame` would have been in the air until `end`.
    pub fn cut(&mut self, end: SimTime, frame: &Frame, channel: &Channel, packets: &Packets) {
        if let Some(timeline) = &mut self.timeline {
            timeline.put(end, frame, None, channel, packets);
        }
        if let Some(story) = &mut self.story {
            story.carried(end, frame, packets);
        }
    }

    /// A packet is put on a wire by `node`, or reaches `node` over it.
    pub fn wire(&mut self, now: SimTime, link: LinkId, node: NodeId, packet: &Packet) {
        if let Some(captures) = &mut self.captures {
            captures.wired(now, link, node, packet);
        }
    }

    /// The MAC has reported on an MSDU.
    #[inline]
    pub fn mac(&mut self, now: SimTime, node: NodeId, report: &TxReport) {
        if self.is_on {
            self.reported(now, node, report);
        }
    }

    #[cold]
    fn reported(&mut self, now: SimTime, node: NodeId, report: &TxReport) {
        let who = [u64::from(node.0), u64::from(report.to.0)];
        let what = [report.fate as u64, u64::from(report.attempts), report.airtime.ns()];
        self.print(Layer::Mac, &[now.ns(), who[0], who[1], what[0], what[1], what[2]]);
        if let Some(story) = &mut self.story {
            story.mac(node, report);
        }
    }

    /// A segment leaves (`arrives` false) or reaches a transport end.
    #[inline]
    pub fn tcp(&mut self, now: SimTime, packet: &Packet, arrives: bool) {
        if self.is_on {
            self.passed(now, packet, arrives);
        }
    }

    #[cold]
    fn passed(&mut self, now: SimTime, packet: &Packet, arrives: bool) {
        let Some(tcp) = packet.tcp() else { return };
        let numbers = u64::from(tcp.seq.0) << 32 | u64::from(tcp.ack.0);
        let flags = u64::from(tcp.flags.0);
        let window_and_flags = (flags & 0xf00) << 16 | u64::from(tcp.window) << 8 | flags & 0xff;
        let rest = u64::from(packet.payload.len) << 32 | window_and_flags;
        self.print(Layer::Tcp, &[now.ns(), u64::from(packet.flow.0) << 1 | u64::from(arrives), numbers, rest]);
        if let (true, Some(story)) = (arrives, &mut self.story) {
            story.arrives(now, packet);
        }
    }

    /// A node begins a leg.
    pub fn leg(&mut self, node: NodeId, leg: &Leg) {
        if let Some(paths) = &mut self.paths {
            paths.leg(node, leg);
        }
    }

    /// True if [`Taps::leg`] and [`Taps::met`] are listened to.
    pub fn has_paths(&self) -> bool {
        self.paths.is_some()
    }

    /// Two nodes are neighbours on a channel from now on, or no more, by motion or by an event.
    pub fn met(&mut self, now: SimTime, channel: ChannelId, pair: [NodeId; 2], is_up: bool) {
        if let Some(paths) = &mut self.paths {
            paths.met(now, channel, pair, is_up);
        }
    }

    /// Nodes stand here as the run begins.
    pub fn places(&mut self, places: &[[f64; 2]]) {
        if let Some(scene) = &mut self.scene {
            scene.places = places.to_vec();
        }
    }

    /// The interval at which [`Taps::sample`] wants to be called.
    pub fn sampling(&self) -> Option<Dur> {
        self.series.as_ref().map(|series| series.every)
    }

    pub fn sample(&mut self, now: SimTime, flows: &[Flow], interfaces: &[Interface], wires: &[Wire]) {
        if let Some(series) = &mut self.series {
            series.sample(now, flows, interfaces, wires);
        }
    }

    /// Closes the captures and gives the rest.
    pub fn finish(self) -> io::Result<Recorded> {
        if let Some(captures) = self.captures {
            captures.finish()?;
        }
        let fingerprint = self.prints.map(|prints| prints.map(Fingerprint::value));
        let series = self.series.map(|series| series.columns);
        let timeline = self.timeline.map(Timeline::finish);
        Ok(Recorded { fingerprint, series, motion: self.paths, timeline, scene: self.scene, story: self.story })
    }
}

/// The recordings in memory.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// Of PHY, MAC and TCP.
    pub fingerprint: Option<[u64; 3]>,
    pub series: Option<Vec<Column>>,
    pub motion: Option<Paths>,
    pub timeline: Option<Timeline>,
    pub scene: Option<Scene>,
    pub story: Option<Story>,
}
