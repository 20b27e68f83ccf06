//! A scheme that panics, for tests of what a campaign does then. It is there with debug assertions only, and in no list.

use plugin::{Info, Kind, Param, Value};
use schemes::{Agent, Cx, Install, Params, Place, Refusal, Site};
use wire::Pkt;
use world::Registries;

static INFO: Info = Info {
    id: "fault",
    summary: "panics",
    source: "none",
    params: &[Param {
        key: "share",
        kind: Kind::Float { min: 0.0, max: 1.0 },
        default: Value::Float(1.0),
        doc: "of the seeds in which it panics",
    }],
};

#[derive(Debug)]
struct Fault {
    panics: bool,
}

impl Agent for Fault {
    fn packet(&mut self, _: Place, pkt: Pkt, _: &mut Cx) -> Option<Pkt> {
        assert!(!self.panics, "a fault\nthat was asked for");
        Some(pkt)
    }
}

const INSTALL: Install = |site: &mut Site, params: &Params| -> Result<(), Refusal> {
    let panics = site.stream(0).chance(params.float("share"));
    site.agent(Fault { panics }).listen([Place::FromHost]);
    Ok(())
};

/// The registries with the fault.
pub fn add(mut all: Registries) -> Registries {
    all.schemes.add(&INFO, INSTALL).expect("no other scheme is called so");
    all
}
