//! The claims of all schemes of one node, folded in the order of the file.

use crate::claims::{Claims, Port, Signal};
use crate::{Agent, Capability};
use mac::{AckPolicy, Classifier, Config, Dcf, Msdu, Piggyback, Plan, RateControl, Recipient, Transmit, TxQueue};
use phy::TxVector;
use tcp::SenderHook;
use units::{Dbm, FlowId, NodeId};
use wire::Packet;

type AroundQueue = Box<dyn FnMut(Box<dyn TxQueue>) -> Box<dyn TxQueue>>;
type AroundRates = Box<dyn FnOnce(Box<dyn RateControl>) -> Box<dyn RateControl>>;
type HookFactory = Box<dyn FnMut(FlowId) -> Option<Box<dyn SenderHook>>>;

/// A node's radio.
#[derive(Debug, Clone)]
pub struct Radio {
    /// Its MAC: interframe spaces, contention windows, categories, rates, retry limits.
    pub mac: Config,
    /// Its transmit power.
    pub tx_power: Dbm,
}

/// Something that only one scheme of a node can hold, as messages call it. A scheme may name one of its own: `What("…")`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct What(pub &'static str);

impl What {
    /// The TCP ACKs: their generation in a receiver's name, and the suppression of the receiver's own.
    pub const ACKS: What = What("TCP ACKs");
    /// The sharing of a PSDU and its acknowledgment: [`crate::Site::acknowledge`].
    pub const MPDU_ACKS: What = What("acknowledgment of what is sent");
    /// The response to data received: [`crate::Site::receive`].
    pub const RECEPTION: What = What("acknowledgment of what is received");
    /// The load of Block Acks: [`crate::Site::load_block_acks`].
    pub const LOADS: What = What("load of Block Acks");
}

/// An agent in a node's chain, and what its seat asked for.
#[derive(Debug)]
pub struct Member {
    /// The agent.
    pub agent: Box<dyn Agent>,
    /// The questions it is asked, and the controls it may turn.
    pub claims: Claims,
    /// The scheme that it belongs to, by its order among the node's; several agents may share one.
    pub instance: usize,
}

/// The hooks of a node's schemes in its TCP senders: factories, in the order of the file.
#[derive(Default)]
pub struct Hooks(pub(crate) Vec<HookFactory>);

impl core::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} factories", self.0.len())
    }
}

impl Hooks {
    /// Returns the hook in a TCP sender of `flow`, which starts at this node; `None` if no scheme has one. To be asked
    /// once for each direction of a connection that opens.
    pub fn sender_hook(&mut self, flow: FlowId) -> Option<Box<dyn SenderHook>> {
        let mut hooks: Vec<_> = self.0.iter_mut().filter_map(|factory| factory(flow)).collect();
        folded(&mut hooks, |all| Box::new(all))
    }
}

/// The schemes of one node. A driver makes one for each node, installs the scenario's schemes, and takes what a node is put
/// together from: each part once.
pub struct Stack {
    /// The radio as schemes have left it.
    pub radio: Radio,
    /// Agents, in the order of the file.
    pub members: Vec<Member>,
    /// The node's announcements.
    pub capabilities: Vec<Capability>,
    /// The claims of each scheme, in the order of the file.
    pub claims: Vec<Claims>,
    pub(crate) classifiers: Vec<Box<dyn Classifier>>,
    pub(crate) transmits: Vec<Box<dyn Transmit>>,
    pub(crate) queues: Vec<AroundQueue>,
    /// The hooks of schemes in TCP senders: a driver keeps them, for connections open during the run.
    pub hooks: Hooks,
    pub(crate) rates: Vec<AroundRates>,
    pub(crate) ack_policy: Option<Box<dyn AckPolicy>>,
    pub(crate) recipient: Option<Box<dyn Recipient>>,
    pub(crate) piggyback: Option<Box<dyn Piggyback>>,
    pub(crate) holders: Vec<(What, &'static str)>,
    plan: Option<Box<dyn Plan>>,
}

impl core::fmt::Debug for Stack {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Stack").field("claims", &self.claims).field("radio", &self.radio).finish_non_exhaustive()
    }
}

impl Stack {
    /// A node without schemes.
    pub fn new(radio: Radio) -> Stack {
        Stack {
            radio,
            members: Vec::new(),
            capabilities: Vec::new(),
            claims: Vec::new(),
            classifiers: Vec::new(),
            transmits: Vec::new(),
            queues: Vec::new(),
            hooks: Hooks::default(),
            rates: Vec::new(),
            ack_policy: None,
            recipient: None,
            piggyback: None,
            holders: Vec::new(),
            plan: None,
        }
    }

    /// A seat after those that are taken.
    pub(crate) fn seat(&mut self, scheme: &'static str, agent: Box<dyn Agent>) -> &mut Claims {
        let instance = self.claims.len();
        self.members.push(Member { agent, claims: Claims::none(scheme), instance });
        let last = self.members.len() - 1;
        &mut self.members[last].claims
    }

    /// A scheme before the one being installed that is shown what the radio sends or receives.
    pub(crate) fn watches_radio(&self) -> Option<&'static str> {
        self.claims.iter().find(|claims| claims.watches_radio()).map(|claims| claims.scheme)
    }

    pub(crate) fn wrap_plan(&mut self, around: impl FnOnce(Box<dyn Plan>) -> Box<dyn Plan>) {
        self.plan = Some(around(self.take_plan()));
    }

    fn take_plan(&mut self) -> Box<dyn Plan> {
        self.plan.take().unwrap_or_else(|| Box::new(Dcf))
    }

    /// Its frame sequences; those of DCF if no scheme has others.
    pub fn plan(&mut self) -> Box<dyn Plan> {
        self.take_plan()
    }

    /// The queue of one access category: `queue`, and what schemes put around it. To be asked for each category, lowest first.
    pub fn queue(&mut self, queue: Box<dyn TxQueue>) -> Box<dyn TxQueue> {
        self.queues.iter_mut().fold(queue, |inner, around| around(inner))
    }

    /// `rates`, and what schemes put around it.
    pub fn rate_control(&mut self, rates: Box<dyn RateControl>) -> Box<dyn RateControl> {
        self.rates.drain(..).fold(rates, |inner, around| around(inner))
    }

    /// True if a scheme has put a rate control around the scenario's.
    pub fn has_rate_control(&self) -> bool {
        !self.rates.is_empty()
    }

    /// Takes the choice of access category; `None` if no scheme makes one.
    pub fn classifier(&mut self) -> Option<Box<dyn Classifier>> {
        let highest = self.radio.mac.categories().saturating_sub(1);
        folded(&mut self.classifiers, |all| Box::new(Classifiers { all, highest }))
    }

    /// Takes the control of each frame's interframe space, rate and power; `None` if no scheme has one.
    pub fn transmit(&mut self) -> Option<Box<dyn Transmit>> {
        folded(&mut self.transmits, |all| Box::new(Transmits(all)))
    }

    /// Takes the scheme's ACK policy: the MPDUs that share a PSDU, and their acknowledgment; `None`: one MPDU and an Ack.
    pub fn ack_policy(&mut self) -> Option<Box<dyn AckPolicy>> {
        self.ack_policy.take()
    }

    /// Takes the scheme's recipient: the response to data received; `None`: an Ack, duplicates filtered.
    pub fn recipient(&mut self) -> Option<Box<dyn Recipient>> {
        self.recipient.take()
    }

    /// Takes the scheme's part in what Block Acks carry; `None`: nothing.
    pub fn piggyback(&mut self) -> Option<Box<dyn Piggyback>> {
        self.piggyback.take()
    }

    /// Returns the hook in a TCP sender of `flow`, which starts at this node; `None` if no scheme has one.
    pub fn sender_hook(&mut self, flow: FlowId) -> Option<Box<dyn SenderHook>> {
        self.hooks.sender_hook(flow)
    }

    /// True if an agent hears of each failed attempt.
    pub fn reads_attempts(&self) -> bool {
        self.members.iter().any(|member| member.claims.reads(Signal::TxAttempt))
    }

    /// True if an agent writes or reads MAC options.
    pub fn knows_options(&self) -> bool {
        let knows = |claims: &Claims| claims.turns(Port::MacOptions) || claims.reads(Signal::MacOptions);
        self.members.iter().any(|member| knows(&member.claims))
    }

    /// True if some scheme turns `port`.
    pub fn turns(&self, port: Port) -> bool {
        self.claims.iter().any(|claims| claims.turns(port))
    }
}

/// Returns a single one as it is, and makes one of several with `chain`.
fn folded<T: ?Sized>(all: &mut Vec<Box<T>>, chain: impl FnOnce(Vec<Box<T>>) -> Box<T>) -> Option<Box<T>> {
    if all.len() > 1 { Some(chain(core::mem::take(all))) } else { all.pop() }
}

/// Classifiers, each asked with the category that the one before it chose.
#[derive(Debug)]
struct Classifiers {
    all: Vec<Box<dyn Classifier>>,
    /// The highest category: a category above it becomes this one.
    highest: u8,
}

impl Classifier for Classifiers {
    fn category(&mut self, packet: &Packet, to: NodeId, default: u8) -> u8 {
        self.all.iter_mut().fold(default, |chosen, one| one.category(packet, to, chosen).min(self.highest))
    }
}

/// Controls of a frame, each asked with the result of the one before it.
#[derive(Debug)]
struct Transmits(Vec<Box<dyn Transmit>>);

impl Transmit for Transmits {
    fn aifsn(&mut self, msdu: &Msdu, packet: &Packet, own: u8) -> u8 {
        self.0.iter_mut().fold(own, |said, one| one.aifsn(msdu, packet, said).max(1))
    }

    fn tx_vector(&mut self, msdu: &Msdu, packet: &Packet, own: TxVector) -> TxVector {
        self.0.iter_mut().fold(own, |said, one| one.tx_vector(msdu, packet, said))
    }
}
