//! Flows that come and go during a run.

use super::{Layout, World};
use crate::flow::Flow;
use engine::Class;
use units::{FlowId, SimTime};

impl World {
    /// Opens a flow: it has a place, timers of its ends (applications have none), and packets find it, the schemes of its nodes
    /// have their say in its senders. It starts with [`World::start_flow`]. `make` is told its forward
    /// direction. `None` if there is no room for one more.
    pub(crate) fn open_flow(&mut self, make: impl FnOnce(FlowId) -> Flow) -> Option<FlowId> {
        if self.flows.is_full() {
            let place = self.flows.len();
            if place == FlowId::MOST_CONNECTIONS {
                return None;
            }
            self.timers.add(Layout::PER_FLOW)?;
            self.events.extend(Layout::events_of(place as u32));
        }
        let id = self.flows.open(make)?;
        let flow = &mut self.flows[id.connection()];
        flow.hook(id, &mut self.hooks);
        Some(id)
    }

    /// Closes a flow: its timers stand still, its packets under way belong to nobody, its place is free. Returns whether it was open.
    pub(crate) fn close_flow(&mut self, id: FlowId) -> bool {
        if !self.flows.close(id) {
            return false;
        }
        let place = id.connection() as u32;
        for end in 0..2 {
            for slot in self.layout().of_end(place, end) {
                self.timers.set(slot, SimTime::NEVER, Class::Between);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly;
    use crate::taps::Taps;
    use std::sync::atomic::{AtomicBool, AtomicU64};
    use units::NodeId;
    use wire::{DropWhy, Packet, Udp};

    const TEXT: &str = r#"
        scenario = { duration = "2 s" }
        [[node]]
        name = "a"
        [[node]]
        name = "b"
        [[link]]
        between = ["a", "b"]
        rate = "10 Mb/s"
        delay = "10 ms"
        [[flow]]
        from = "a"
        to = "b"
        transport = { protocol = "tcp" }
        start = "1 s"
    "#;

    fn no_route(world: &World) -> u64 {
        world.packets.ended(DropWhy::NoRoute)
    }

    #[test]
    fn a_flow_that_opens_in_a_run_has_timers_and_is_served_and_once_closed_its_place_serves_another() {
        let blueprint = crate::parse(TEXT, &[]).expect("the scenario is sound");
        let mut world = assembly::world(blueprint.shared(), 1, Taps::default()).expect("it can be built");
        let make = |_: FlowId| assembly::flow(blueprint.shared(), 0, 1);
        let id = world.open_flow(make).expect("there is room");
        assert_eq!(id, FlowId::forward(1));
        world.start_flow(SimTime::ZERO, 1);
        world.run(&AtomicBool::new(false), &AtomicU64::new(0)).expect("nobody interrupts");
        // It begins a second earlier than the one of the scenario, and both go on to the end.
        let [first, second] =
            [0, 1].map(|place: usize| world.flows[place].stated().expect("the scenario's").delivered[1].payload);
        assert!(first > 100_000 && second > first, "{first} {second}");

        assert!(world.close_flow(id) && !world.close_flow(id));
        let again = world.open_flow(make).expect("there is room");
        assert_eq!((again, world.flows.len()), (FlowId::of_generation(1, 1), 2));
        // A packet of the closed flow belongs to nobody; one of the new flow arrives.
        let before = no_route(&world);
        for flow in [id, again] {
            let l4 = wire::L4::Udp(Udp::default());
            let ip = wire::Ipv4 { dst: net::address(NodeId(1)), ..wire::Ipv4::default() };
            let pkt = world.packets.put(Packet { ip, l4, payload: wire::Payload::EMPTY, flow });
            let now = world.now();
            world.tell(now, NodeId(1), node::Input::FromWire(pkt, NodeId(0)));
            world.run_jobs();
        }
        assert_eq!(no_route(&world) - before, 1);
    }
}
