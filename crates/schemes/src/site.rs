//! A node while schemes are installed: the facts that a scheme sees, and the requests that it may make.

use crate::claims::{Claims, Field, Place, Port, Signal};
use crate::stack::{Radio, Stack, What};
use crate::{Agent, Capability, Install};
use core::fmt;
use engine::{Purpose, Stream, Streams};
use mac::{AckPolicy, Classifier, Config, Edca, Piggyback, Plan, RateControl, Recipient, Transmit, TxQueue};
use plugin::Chosen;
use std::net::Ipv4Addr;
use tcp::SenderHook;
use units::{Bytes, Dbm, FlowId, NodeId};

/// The reason why a scheme cannot be at a node: the thing it lacks, and the text to write instead. One line; the message
/// around it names scheme and node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    /// A refusal for this reason.
    pub fn new(why: impl Into<String>) -> Refusal {
        Refusal(why.into())
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Refusal {
        Refusal::new(why)
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Refusal {
        Refusal::new(why)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Refusal {}

/// The facts about a node that are known before the run. They do not change when an event moves the node. An access point
/// is `has_air && forwards && access_point.is_none()`; in a network without access points the same holds at relays, and
/// nothing here tells these two apart. The standards of neighbours are not told.
#[derive(Debug, Clone, Copy)]
pub struct NodeFacts<'a> {
    /// The node.
    pub id: NodeId,
    /// As the scenario calls it.
    pub name: &'a str,
    /// Nodes in all: ids are below it.
    pub nodes: usize,
    /// True if it has a radio.
    pub has_air: bool,
    /// Its address.
    pub address: Ipv4Addr,
    /// True if it forwards for others: access points, and nodes that a flow's route leads through.
    pub forwards: bool,
    /// True if flows start at it.
    pub starts_flows: bool,
    /// True if flows end at it.
    pub ends_flows: bool,
    /// True if a connection of TCP that the scenario states ends at it, or may lead through it; and where it states no flows, since a
    /// driver may bring some.
    pub carries_tcp: bool,
    /// The access point it belongs to; `None` at an access point, at a node without a radio, and where none is in reach.
    pub access_point: Option<NodeId>,
    /// The receiver policy ([`tcp::ack::registry`]) of all TCP flows that end at it, if they agree on one.
    pub receiver: Option<&'static str>,
    /// The amendment whose modes its radio has: `standard.modes()`, slowest first.
    pub standard: phy::Standard,
    /// The capacity of its interface's queue; under EDCA of each category's.
    pub queue: queue::Limit,
    /// The IP length of a full packet: what a limit in packets is counted in.
    pub mtu: Bytes,
}

/// Mean powers at receivers, with the transmit powers that earlier schemes left: what an access point measures of its
/// stations. There is none where signals have no powers.
pub trait Powers {
    /// Mean power of the first node's signal at the second.
    fn mean(&self, from: NodeId, to: NodeId) -> Dbm;
    /// The stations of an access point, by id.
    fn stations(&self, access_point: NodeId) -> Vec<NodeId>;
}

units::debug_by_name!(Powers);

/// The text that keeps block acknowledgment away from a scheme.
pub(crate) const NO_BLOCK_ACK: &str = "block_ack = [] in [radio.aggregation]";

/// A scheme without an agent is a member of the chain that is never asked, so that results list every scheme that sits at a node.
#[derive(Debug)]
struct Mute;

impl Agent for Mute {}

impl Stack {
    /// Installs a scheme after those that are there. Returns true if it sits at this node, having asked for anything.
    ///
    /// # Errors
    /// One line on the thing that the node lacks, or the scheme before it that excludes it.
    pub fn install(
        &mut self,
        scheme: &Chosen<Install>,
        node: NodeFacts<'_>,
        powers: Option<&dyn Powers>,
        streams: Streams,
    ) -> Result<bool, String> {
        let (id, seated, announced) = (scheme.info.id, self.members.len(), self.capabilities.len());
        let mut site = Site::new(id, node, powers, streams, self);
        let installed = (scheme.plugin)(&mut site, &scheme.params);
        let (claims, conflict) = site.close();
        if let Some(conflict) = conflict {
            return Err(conflict);
        }
        let at_node = |why: String| format!("{id} at \"{}\": {why}", node.name);
        installed.map_err(|refusal| at_node(refusal.to_string()))?;
        self.radio.mac.edca.as_ref().map_or(Ok(()), Edca::check).map_err(at_node)?;
        if self.ack_policy.is_some() || self.recipient.is_some() {
            let own_way =
                |write: &str| Err(at_node(format!("it acknowledges whole MSDUs its own way; write {write}")));
            if self.radio.mac.fragmentation.is_some() {
                return own_way("fragmentation_threshold = \"off\"");
            }
            if self.radio.mac.aggregation.is_some_and(|own| own.starts()) {
                return own_way(NO_BLOCK_ACK);
            }
        }
        let is_seated = self.members.len() > seated;
        let sits = is_seated || self.capabilities.len() > announced || claims.ports().next().is_some();
        if sits && !is_seated {
            self.seat(id, Box::new(Mute));
        }
        if sits {
            self.claims.push(claims);
        }
        Ok(sits)
    }
}

/// A node at which a scheme is being installed. A scheme that does not sit there calls only what reads.
///
/// Everything folds in the order of the file: a later scheme finds what earlier ones left, and is asked after them.
pub struct Site<'a> {
    /// The facts about the node.
    pub node: NodeFacts<'a>,
    powers: Option<&'a dyn Powers>,
    streams: Streams,
    stack: &'a mut Stack,
    claims: Claims,
    /// The reason why the scheme cannot be installed: one installed before, or the kind of node.
    conflict: Option<String>,
}

impl fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("node", &self.node).field("claims", &self.claims).finish_non_exhaustive()
    }
}

impl<'a> Site<'a> {
    fn new(
        scheme: &'static str,
        node: NodeFacts<'a>,
        powers: Option<&'a dyn Powers>,
        streams: Streams,
        stack: &'a mut Stack,
    ) -> Site<'a> {
        Site { node, powers, streams, stack, claims: Claims::none(scheme), conflict: None }
    }

    /// Returns the claims, and the conflict if there is one.
    fn close(self) -> (Claims, Option<String>) {
        (self.claims, self.conflict)
    }

    fn conflict(&mut self, line: impl FnOnce(&str, &str) -> String) {
        if self.conflict.is_none() {
            self.conflict = Some(line(self.claims.scheme, self.node.name));
        }
    }

    /// Something happens at this node while the network runs: `agent` is asked. The seat says what it is asked.
    pub fn agent(&mut self, agent: impl Agent + 'static) -> Seat<'_> {
        let member = self.stack.seat(self.claims.scheme, Box::new(agent));
        Seat { scheme: &mut self.claims, own: member }
    }

    /// It looks at headers of TCP, wherever: encrypted traffic is none of its business. For the list of schemes.
    pub fn reads_tcp(&mut self) {
        self.claims.read(Signal::TcpHeader);
    }

    /// Tells neighbours that this node has the scheme, and something that the scheme knows how to read.
    /// [`Agent::peer`] hears what they announced.
    pub fn announce(&mut self, detail: u32) {
        self.claims.read(Signal::Capabilities);
        self.stack.capabilities.push(Capability { scheme: self.claims.scheme, detail });
    }

    /// The MAC's parameters as earlier schemes left them, to be read.
    pub fn mac(&self) -> &Config {
        &self.stack.radio.mac
    }

    /// The radio as earlier schemes left it, to be changed.
    pub fn radio(&mut self) -> &mut Radio {
        self.claims.turn(Port::Radio);
        &mut self.stack.radio
    }

    /// The measured powers of signals, with the transmit powers that earlier schemes left.
    ///
    /// # Errors
    /// Signals have no powers in this scenario.
    pub fn powers(&mut self) -> Result<&'a dyn Powers, Refusal> {
        let powers = self.signals_have_powers()?;
        self.claims.read(Signal::Powers);
        Ok(powers)
    }

    /// Checks that signals have powers, so that a transmit power means something.
    ///
    /// # Errors
    /// They have none.
    pub fn needs_powers(&self) -> Result<(), Refusal> {
        self.signals_have_powers().map(|_| ())
    }

    fn signals_have_powers(&self) -> Result<&'a dyn Powers, Refusal> {
        let none = "signals have no powers; write propagation = { model = \"log-distance\" } in [channel]";
        self.powers.ok_or_else(|| Refusal::new(none))
    }

    /// A choice of access category. Each classifier gets the category that the one before it chose as its `default`. A node
    /// under DCF has no categories: that is an input error.
    pub fn classify(&mut self, classifier: impl Classifier + 'static) {
        self.claims.turn(Port::Classifier);
        if self.mac().edca.is_none() {
            self.conflict(|scheme, node| {
                let what = format!("{scheme} chooses access categories, and \"{node}\" has none");
                format!("{what}; write access = \"edca\" in [radio] or there")
            });
        }
        self.stack.classifiers.push(Box::new(classifier));
    }

    /// A say in interframe space, rate and power of each frame. Each gets what the one before it said as `own`.
    pub fn transmit(&mut self, transmit: impl Transmit + 'static) {
        self.claims.turn(Port::Transmit);
        self.stack.transmits.push(Box::new(transmit));
    }

    /// A transmit queue around the one that stands there. Called once for each access category, lowest first (under DCF
    /// once), when all schemes are installed; each queue has the interface's whole limit. [`mac::Around`] makes one of a
    /// [`mac::Wrap`], which has the rules. The outermost, of the scheme that comes last, decides what goes next.
    pub fn wrap_queue(&mut self, around: impl FnMut(Box<dyn TxQueue>) -> Box<dyn TxQueue> + 'static) {
        self.claims.turn(Port::TxQueue);
        self.stack.queues.push(Box::new(around));
    }

    /// A say in how TCP senders at this node measure and lose. The factory is called for each direction of each connection
    /// that starts here, when it opens; `None` leaves that one alone. Hooks of one connection are asked in turn, and
    /// each gets the value of the one before.
    pub fn hook_sender(&mut self, factory: impl FnMut(FlowId) -> Option<Box<dyn SenderHook>> + 'static) {
        self.claims.turn(Port::SenderHook);
        self.stack.hooks.0.push(Box::new(factory));
    }

    /// Frame sequences and responses around those that stand there, the innermost being [`mac::Dcf`].
    pub fn wrap_plan(&mut self, around: impl FnOnce(Box<dyn Plan>) -> Box<dyn Plan>) {
        self.claims.turn(Port::Plan);
        self.stack.wrap_plan(around);
    }

    /// A rate control around the one that stands there, the innermost being the scenario's ([`mac::Fixed`] unless it names
    /// another). Called once, when all schemes are installed. One that replaces it may drop it.
    pub fn rate_control(&mut self, around: impl FnOnce(Box<dyn RateControl>) -> Box<dyn RateControl> + 'static) {
        self.claims.turn(Port::RateControl);
        self.stack.rates.push(Box::new(around));
    }

    /// Sets the MPDUs that may share a PSDU, the response it asks for, and the meaning of that response. One scheme of a
    /// node alone, and none where MSDUs are fragmented. Both ends of a link must have it: it announces itself, and admits
    /// MSDUs only for neighbours that did.
    pub fn acknowledge(&mut self, policy: impl AckPolicy + 'static) {
        self.claims.turn(Port::AckPolicy);
        self.hold(What::MPDU_ACKS);
        self.stack.ack_policy = Some(Box::new(policy));
    }

    /// The response to data received, and what is handed up when. One scheme of a node alone, and none where MSDUs are
    /// fragmented.
    pub fn receive(&mut self, recipient: impl Recipient + 'static) {
        self.claims.turn(Port::Recipient);
        self.hold(What::RECEPTION);
        self.stack.recipient = Some(Box::new(recipient));
    }

    /// Packets that ride in Block Acks, of this node and of its neighbours. One scheme of a node alone. Both ends of a link must have it:
    /// it announces itself, and loads Block Acks only for neighbours that did. A node that starts no agreements of block acknowledgment
    /// is an input error.
    pub fn load_block_acks(&mut self, piggyback: impl Piggyback + 'static) {
        self.claims.turn(Port::Piggyback);
        if !self.mac().aggregation.is_some_and(|own| own.starts()) {
            self.conflict(|scheme, node| {
                let lacks = format!("{scheme} at \"{node}\": it loads Block Acks, and this radio gets none");
                format!("{lacks}; write standard = \"802.11n\" or later in [radio], and no {NO_BLOCK_ACK}")
            });
        }
        self.hold(What::LOADS);
        self.stack.piggyback = Some(Box::new(piggyback));
    }

    /// Takes something that only one scheme of a node can hold. Another that takes it too is an input error that names both.
    pub fn exclusive(&mut self, what: What) {
        self.claims.turn(Port::Exclusive);
        self.hold(what);
    }

    fn hold(&mut self, what: What) {
        let held = self.stack.holders.iter().find(|(other, _)| *other == what).map(|(_, holder)| *holder);
        if let Some(other) = held {
            self.conflict(|own, node| format!("{other} and {own} both claim the {} of \"{node}\"", what.0));
        }
        self.stack.holders.push((what, self.claims.scheme));
    }

    /// It ends TCP connections that lead through this node. So it stands before schemes that watch the radio, or these would
    /// not see what it sends.
    pub fn ends_connections(&mut self) {
        self.claims.turn(Port::Connections);
        if let Some(other) = self.stack.watches_radio() {
            self.conflict(|own, node| {
                let ends = format!("{own} ends connections at \"{node}\"");
                format!("{ends}, and {other} before it would not see its packets; write {own} first")
            });
        }
    }

    /// Declares that the scheme cannot work where MPDUs share a PPDU and its Block Ack: an input error at a node that starts agreements of
    /// block acknowledgment. `why` is a clause, which the message ends with the text to write.
    pub fn excludes_block_ack(&mut self, why: &str) {
        if self.mac().aggregation.is_some_and(|own| own.starts()) {
            self.conflict(|scheme, node| format!("{scheme} at \"{node}\": {why}; write {NO_BLOCK_ACK}"));
        }
    }

    /// A random stream of the scheme's own at this node: the same one at each call. `index` tells several apart.
    pub fn stream(&self, index: u32) -> Stream {
        // The scheme's name and no position in a file: another scheme changes nobody's draws. FNV-1a, 32 bits.
        let fnv = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let name = self.claims.scheme.bytes().fold(0x811c_9dc5, fnv);
        let of_node = self.streams.within(Purpose::Scheme, u64::from(self.node.id.0));
        of_node.get(Purpose::Scheme, u64::from(name) << 32 | u64::from(index))
    }
}

/// An agent's seat in the chain of a node: the questions it is asked and the actions it may take. Debug builds check that it
/// does nothing else.
/// [`crate::Cx::get`], `serial`, `address`, `timer` and [`Agent::peer`] need no claim.
#[derive(Debug)]
pub struct Seat<'s> {
    scheme: &'s mut Claims,
    own: &'s mut Claims,
}

impl Seat<'_> {
    fn reads(self, signal: Signal) -> Self {
        self.scheme.read(signal);
        self.own.read(signal);
        self
    }

    fn turns(self, port: Port) -> Self {
        self.scheme.turn(port);
        self.own.turn(port);
        self
    }

    /// It is shown packets at these places: [`Agent::packet`].
    pub fn listen(self, places: impl IntoIterator<Item = Place>) -> Self {
        for place in places {
            self.scheme.sit(place);
            self.own.sit(place);
        }
        self
    }

    /// It hears the final fate of what the MAC was given: [`Agent::report`].
    pub fn reports(self) -> Self {
        self.reads(Signal::TxReport)
    }

    /// It hears of each failed attempt, the last one too: [`Agent::report`] with [`mac::Fate::Attempt`]. Without [`Seat::reports`] of
    /// nothing else.
    pub fn attempts(self) -> Self {
        self.reads(Signal::TxAttempt)
    }

    /// It hears of packets that this node put on a wire and that were lost there, to noise and not to the queue:
    /// [`Agent::lost_on_wire`]. No wire tells its sender so: a scheme that asks for it departs from what can be built.
    pub fn wire_losses(self) -> Self {
        self.reads(Signal::WireLoss)
    }

    /// It may ask [`crate::Cx::facts`].
    pub fn facts(self) -> Self {
        self.reads(Signal::FlowFacts)
    }

    /// It may ask [`crate::Cx::facts`], and cannot work where the answer is `None`: where TCP is an operating system's.
    pub fn needs_facts(self) -> Self {
        self.scheme.need_own_tcp();
        self.own.need_own_tcp();
        self.facts()
    }

    /// It may ask [`crate::Cx::room`].
    pub fn room(self) -> Self {
        self.reads(Signal::QueueRoom)
    }

    /// It is shown MAC options of received frames: [`Agent::read_options`].
    pub fn reads_options(self) -> Self {
        self.reads(Signal::MacOptions)
    }

    /// It is asked for room in frames and writes MAC options into it: [`Agent::mac_room`], [`Agent::write_options`].
    pub fn writes_options(self) -> Self {
        self.turns(Port::MacOptions)
    }

    /// It may rewrite this part of TCP headers: [`crate::Cx::get_mut`].
    pub fn rewrites(self, field: Field) -> Self {
        self.turns(field.port())
    }

    /// It may make, copy, withhold, end and inject packets.
    pub fn makes_packets(self) -> Self {
        self.turns(Port::Packets)
    }

    /// It may hand measurements of links to the node's router: [`crate::Cx::measured`]. A route metric that learns takes them.
    pub fn feeds_routes(self) -> Self {
        self.turns(Port::Routes)
    }

    /// It may give commands to TCP senders at this node: [`crate::Cx::command`].
    pub fn commands(self) -> Self {
        self.turns(Port::Sender)
    }
}
