//! Books that do not balance name the scheme and the node that lost a packet.

use mac::{Around, Msdu, TxQueue, Wrap};
use schemes::{Agent, Cx, Info, Params, Place, Refusal, Site};
use std::sync::atomic::AtomicBool;
use units::SimTime;
use wire::{Packets, Pkt};
use world::{Record, Registries, RunError};

const fn info(id: &'static str) -> Info {
    Info { id, summary: "of a test", source: "none", params: &[] }
}

/// Keeps the third packet that it is shown, and tells nobody.
#[derive(Debug)]
struct Keeper {
    seen: u64,
    kept: Vec<Pkt>,
}

impl Agent for Keeper {
    fn packet(&mut self, _: Place, pkt: Pkt, _: &mut Cx) -> Option<Pkt> {
        self.seen += 1;
        if self.seen != 3 {
            return Some(pkt);
        }
        self.kept.push(pkt);
        None
    }
}

static KEEPER: Info = info("keeper");

fn keeper(site: &mut Site, _: &Params) -> Result<(), Refusal> {
    if site.node.name == "ap" {
        site.agent(Keeper { seen: 0, kept: Vec::new() }).listen([Place::ToAir]).makes_packets();
    }
    Ok(())
}

/// Says that it holds two packets, and has none.
#[derive(Debug)]
struct Boaster;

impl Agent for Boaster {
    fn held(&self) -> u64 {
        2
    }
}

static BOASTER: Info = info("boaster");

fn boaster(site: &mut Site, _: &Params) -> Result<(), Refusal> {
    if site.node.name == "mobile" {
        site.agent(Boaster).listen([Place::FromAir]);
    }
    Ok(())
}

/// A queue that takes the second MSDU out and forgets it.
#[derive(Debug)]
struct Hole {
    seen: u64,
    gone: Vec<Msdu>,
}

impl Wrap for Hole {
    fn push(&mut self, inner: &mut dyn TxQueue, now: SimTime, msdu: Msdu, all: &mut Packets) -> Result<(), Msdu> {
        self.seen += 1;
        if self.seen == 2 {
            self.gone.push(msdu);
            return Ok(());
        }
        inner.push(now, msdu, all)
    }
}

static HOLE: Info = info("hole");

fn hole(site: &mut Site, _: &Params) -> Result<(), Refusal> {
    if site.node.name == "ap" {
        site.wrap_queue(|inner| Box::new(Around::new(inner, Hole { seen: 0, gone: Vec::new() })));
    }
    Ok(())
}

/// The end of a run with this scheme, and an honest one beside it.
fn blamed(scheme: &str) -> String {
    let text = format!(
        "[scenario]\nname = \"blame\"\nduration = \"2 s\"\n[radio]\nstandard = \"802.11b\"\n[[node]]\nname = \"ap\"\n\
         [[node]]\nname = \"mobile\"\n[[flow]]\nfrom = \"ap\"\nto = \"mobile\"\n\
         transport = {{ protocol = \"tcp\", preset = \"rfc\" }}\n[[scheme]]\nname = \"lle-tcp\"\n[[scheme]]\nname = \"{scheme}\"\n"
    );
    let mut all = Registries::builtin();
    all.schemes.add(&KEEPER, keeper).unwrap();
    all.schemes.add(&BOASTER, boaster).unwrap();
    all.schemes.add(&HOLE, hole).unwrap();
    let blueprint = world::parse_with(&text, &[], all).unwrap();
    match world::run(&blueprint, 1, &Record::default(), &AtomicBool::new(false)) {
        Err(RunError::Books(said)) => said,
        other => panic!("{scheme}: {:?}", other.map(|run| run.books)),
    }
}

#[test]
fn an_agent_that_loses_a_packet_is_named_with_its_node() {
    let said = blamed("keeper");
    assert!(
        said.starts_with("scheme \"keeper\" at \"ap\": 1 packets neither passed on, nor ended, nor held. Books"),
        "{said}"
    );
}

#[test]
fn an_agent_that_holds_less_than_it_says_is_named_with_its_node() {
    let said = blamed("boaster");
    let why = "holds 2 packets fewer than it says, or has ended them twice";
    assert!(said.starts_with(&format!("scheme \"boaster\" at \"mobile\": {why}. Books")), "{said}");
}

#[test]
fn a_queue_that_loses_an_msdu_is_named_with_its_scheme_and_node() {
    let said = blamed("hole");
    let why = "1 MSDUs neither passed on, nor ended, nor held";
    assert!(said.starts_with(&format!("the queue of scheme \"hole\" at \"ap\": {why}. Books")), "{said}");
}
