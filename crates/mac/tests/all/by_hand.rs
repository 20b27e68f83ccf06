//! Two interfaces whose air is this file: what passes between them is bytes. 802.11a, data at 54 Mb/s, control frames at 24 Mb/s:
//! RTS, CTS and ACK 28 us, an MPDU of 1536 B 248 us, SIFS 16 us; a response must have begun 16 + 9 + 25 us after a frame.

use engine::{Class, Purpose, Streams};
use mac::testing::{Asked, ByHand};
use mac::{
    Body, Carried, Config, ContenderId, Data, Dcf, Delivery, Fate, Fifo, Frame, Got, Input, Kind, Label, MacOptions,
    Mpdu, MpduSet, Msdu, Msdus, Outcome, Output, Psdu, Rts, Station, TxQueue,
};
use phy::{Mode, Standard};
use queue::{Limit, Spec};
use units::{BitRate, Bytes, Dur, FlowId, NodeId, SimTime};
use wire::dot11::{self, DataHeader, DurationField, FrameFlags, MacAddr, SequenceControl};
use wire::{DropWhy, Ipv4, L4, Packet, Packets, Payload, Udp};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

fn at(us: u64) -> SimTime {
    SimTime::ZERO + Dur::from_us(us)
}

fn mode(mbps: u64) -> Mode {
    Standard::A.mode(BitRate::from_kbps(mbps * 1000)).unwrap()
}

/// One machine: an interface, the packets of its host, its end of the air.
struct Machine {
    station: Station,
    packets: Packets,
    air: ByHand,
    out: Vec<Output>,
}

impl Machine {
    fn new(node: NodeId) -> Machine {
        let config = Config { rts: Rts { threshold: Some(Bytes(0)) }, ..Config::of(Standard::A, mode(54)) };
        let draws = Streams::new(1).get(Purpose::Queue, u64::from(node.0));
        let queue: Box<dyn TxQueue> = Box::new(Fifo::new(&Spec::drop_tail(Limit::Packets(9)), Bytes(1500), draws));
        let station = Station::new(node, &[0, 0], ContenderId(0), config, vec![queue], Box::new(Dcf));
        Machine { station, packets: Packets::default(), air: ByHand::default(), out: Vec::new() }
    }

    fn tell(&mut self, us: u64, input: Input<'_>) -> &mut Machine {
        self.station.handle(at(us), input, &mut self.air, &mut self.packets, &mut self.out);
        self
    }

    /// The bytes of the frame that it has put on the air, and its Duration field in us.
    fn bytes(&mut self) -> (Vec<u8>, u16) {
        let frame = self.air.sent.pop().expect("a frame was sent");
        assert!(self.air.sent.is_empty(), "one at a time");
        let bytes = emitted(&frame, &self.packets);
        assert_eq!(
            bytes.len() as u64,
            frame.psdu.len().0,
            "what is on the air is as long as its airtime was counted for"
        );
        frame.release(&mut self.packets);
        let duration = dot11::Frame::parse(&bytes).expect("a frame").duration();
        (bytes, duration.us())
    }

    /// A frame has come, of which the bytes alone are known, and the mode and duration that its PLCP header told.
    fn hear(&mut self, us: u64, bytes: &[u8], rate: Mode) {
        let frame = parsed(bytes, rate, &mut self.packets);
        self.tell(us, Input::Ended(&frame, Got::Mpdus(&MpduSet::ONE)));
        frame.release(&mut self.packets);
    }

    fn asked(&mut self) -> Vec<Asked> {
        std::mem::take(&mut self.air.asked)
    }
}

fn emitted(frame: &Frame, packets: &Packets) -> Vec<u8> {
    let (ra, ta) = (MacAddr::of_node(frame.to), MacAddr::of_node(frame.from));
    let (flags, duration) = (FrameFlags::NONE, DurationField::covering(frame.duration));
    let mut bytes = Vec::new();
    let done = match (frame.kind, frame.data()) {
        (Kind::Rts, _) => dot11::Frame::Rts(dot11::Rts { flags, duration, ra, ta }).emit(&mut bytes),
        (Kind::Cts, _) => dot11::Frame::Cts(dot11::Cts { flags, duration, ra }).emit(&mut bytes),
        (Kind::Ack, _) => dot11::Frame::Ack(dot11::Ack { flags, duration, ra }).emit(&mut bytes),
        (_, Some(data)) => {
            let mut header = DataHeader::ibss(ra, ta, MacAddr::ibss(0));
            (header.duration, header.sequence) = (duration, SequenceControl::new(data.seq, data.fragment));
            header.emit_packet(packets.read(&data.msdus.each()[0].packet), &mut bytes)
        }
        (kind, None) => panic!("no bytes of a {kind:?}"),
    };
    done.expect("a frame that can be written");
    bytes
}

fn parsed(bytes: &[u8], mode: Mode, packets: &mut Packets) -> Frame {
    let read = dot11::Frame::parse(bytes).expect("a frame whose FCS is right");
    let node = |addr: MacAddr| addr.node().expect("a node's address");
    let other = |to: NodeId| NodeId(1 - to.0);
    let (kind, to, body) = match read {
        dot11::Frame::Rts(rts) => (Kind::Rts, node(rts.ra), Body::Nothing),
        dot11::Frame::Cts(cts) => (Kind::Cts, node(cts.ra), Body::Nothing),
        dot11::Frame::Ack(ack) => (Kind::Ack, node(ack.ra), Body::Nothing),
        dot11::Frame::Data(dot11::Data { header, body: dot11::Body::Ip(ip), .. }) => {
            let pkt = packets.put(Packet::parse(ip, FlowId(0)).expect("a packet"));
            let packet = packets.share(&pkt);
            packets.free(pkt, DropWhy::Delivered);
            let msdus = Msdus::One(Carried { packet, options: MacOptions::within(0) });
            let (seq, fragment) = (header.sequence.number(), header.sequence.fragment());
            let (is_retry, more_fragments) = (header.flags.0 & FrameFlags::RETRY.0 != 0, false);
            let data = Data {
                seq,
                fragment,
                more_fragments,
                is_retry,
                attempt: 1,
                is_doomed: false,
                qos: None,
                cue: None,
                msdus,
            };
            (Kind::Data, node(header.da()), Body::Data(data))
        }
        other => panic!("{other:?}"),
    };
    let len = Bytes(bytes.len() as u64);
    Frame {
        kind,
        // A CTS and an ACK do not say whose they are.
        from: other(to),
        to,
        tx: mode.into(),
        airtime: phy::airtime(mode, len),
        duration: Dur::from_us(u64::from(read.duration().us())),
        label: Label::default(),
        psdu: Psdu::One(Mpdu { len, body }),
    }
}

fn datagram() -> Packet {
    let l4 = L4::Udp(Udp { src_port: 7, dst_port: 9 });
    Packet { ip: Ipv4::default(), l4, payload: Payload::stream(40, 1472), flow: FlowId(0) }
}

fn hand_down(machine: &mut Machine, us: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    datagram().emit(&mut bytes).unwrap();
    let pkt = machine.packets.put(datagram());
    let msdu = Msdu::new(at(us), pkt, &machine.packets, B, 0);
    machine.tell(us, Input::Enqueue(msdu));
    bytes
}

#[test]
fn an_exchange_passes_as_bytes() {
    let (mut a, mut b) = (Machine::new(A), Machine::new(B));
    let handed_down = hand_down(&mut a, 0);
    assert_eq!(a.asked(), [Asked::Want(ContenderId(0))]);
    // The grant is ours to give: a DIFS later.
    let (rts, duration) = a.tell(34, Input::Granted).bytes();
    // CTS, data, ACK and three gaps.
    assert_eq!((rts.len(), duration), (20, 28 + 248 + 28 + 3 * 16));
    a.tell(62, Input::Sent);
    assert_eq!(a.station.next_wakeup(), (at(62 + 50), Class::Between));
    b.hear(62, &rts, mode(24));
    assert_eq!(b.station.next_wakeup(), (at(78), Class::Start));
    let (cts, duration) = b.tell(78, Input::Timer).bytes();
    assert_eq!((cts.len(), duration), (14, 248 + 28 + 2 * 16));
    a.hear(106, &cts, mode(24));
    assert_eq!(a.station.next_wakeup(), (at(122), Class::Start));
    let (data, duration) = a.tell(122, Input::Timer).bytes();
    assert_eq!((data.len(), duration), (1536, 16 + 28));
    a.tell(370, Input::Sent);
    b.hear(370, &data, mode(54));
    let (ack, duration) = b.tell(386, Input::Timer).bytes();
    assert_eq!((ack.len(), duration), (14, 0));
    a.hear(414, &ack, mode(24));
    assert_eq!(a.asked(), [Asked::Finish(Outcome::Success, false)]);
    let Some(Output::Done(pkt, report)) = a.out.pop() else { panic!("{:?}", a.out) };
    assert_eq!((report.fate, report.attempts, report.done), (Fate::Delivered, 1, at(414)));
    a.packets.free(pkt, DropWhy::MacDone);
    let Some(Output::Deliver(Delivery { pkt, from, .. })) = b.out.pop() else { panic!("{:?}", b.out) };
    let mut handed_up = Vec::new();
    b.packets.free(pkt, DropWhy::Delivered).emit(&mut handed_up).unwrap();
    assert_eq!((from, handed_up), (A, handed_down));
    assert!(a.out.is_empty() && b.out.is_empty() && b.asked().is_empty());
}

#[test]
fn silence_is_a_failure_and_so_is_a_frame_of_others_once_it_has_ended() {
    for hears_another in [false, true] {
        let mut a = Machine::new(A);
        hand_down(&mut a, 0);
        a.tell(34, Input::Granted).bytes();
        a.tell(62, Input::Sent).air.is_receiving = hears_another;
        a.asked();
        a.tell(112, Input::Timer);
        if hears_another {
            assert_eq!(a.asked(), [], "it may yet be the response");
            a.tell(400, Input::Ended(&parsed_cts_for(B), Got::Nothing));
        }
        assert_eq!(a.asked(), [Asked::Finish(Outcome::Failure, true)]);
        let (rts, _) = a.tell(500, Input::Granted).bytes();
        assert_eq!(rts.len(), 20, "from the beginning");
        for pkt in a.station.kill(at(501), &mut a.air, &mut a.packets) {
            a.packets.free(pkt, DropWhy::NodeDown);
        }
    }
}

/// A CTS for this node.
fn parsed_cts_for(node: NodeId) -> Frame {
    let (flags, duration) = (FrameFlags::NONE, DurationField::covering(Dur::ZERO));
    let mut bytes = Vec::new();
    dot11::Frame::Cts(dot11::Cts { flags, duration, ra: MacAddr::of_node(node) }).emit(&mut bytes).unwrap();
    parsed(&bytes, mode(24), &mut Packets::default())
}
