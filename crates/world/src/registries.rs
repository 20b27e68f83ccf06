//! The plug-ins of a program.

use crate::scenario::Names;
use mac::rate;
use plugin::Registry;
use schemes::Install;
use tcp::{ack, cc, recovery};

/// The plug-ins that a scenario may name. A program adds its own to [`Registries::builtin`].
#[derive(Debug, Clone)]
pub struct Registries {
    /// Cross-layer schemes.
    pub schemes: Registry<Install>,
    /// Congestion controls.
    pub congestion: Registry<cc::Make>,
    /// Acknowledgement policies of TCP receivers.
    pub receivers: Registry<ack::Make>,
    /// Loss recoveries of TCP senders.
    pub recoveries: Registry<recovery::Make>,
    /// Rate controls of stations.
    pub rate_controls: Registry<rate::Make>,
    /// Queue disciplines.
    pub queues: Registry<queue::Make>,
    /// Traffic models of users.
    pub traffic: Registry<traffic::Make>,
    /// Routers.
    pub routers: Registry<net::router::Make>,
    /// Metrics of computed routes.
    pub route_metrics: Registry<net::metric::Make>,
}

impl Registries {
    /// Those of this workspace.
    pub fn builtin() -> Registries {
        Registries {
            schemes: schemes::registry(),
            congestion: cc::registry(),
            receivers: ack::registry(),
            recoveries: recovery::registry(),
            rate_controls: rate::registry(),
            queues: queue::registry(),
            traffic: traffic::registry(),
            routers: net::router::registry(),
            route_metrics: net::metric::registry(),
        }
    }

    /// The plug-ins that these have and others have not, as `scheme my-scheme`: kind after kind, by id.
    pub fn beyond(&self, others: &Registries) -> Vec<String> {
        fn add<T>(found: &mut Vec<String>, all: &Registry<T>, others: &Registry<T>) {
            let new = all.ids().into_iter().filter(|id| others.find(id).is_none());
            found.extend(new.map(|id| format!("{} {id}", all.noun())));
        }
        let mut found = Vec::new();
        add(&mut found, &self.schemes, &others.schemes);
        add(&mut found, &self.congestion, &others.congestion);
        add(&mut found, &self.receivers, &others.receivers);
        add(&mut found, &self.recoveries, &others.recoveries);
        add(&mut found, &self.rate_controls, &others.rate_controls);
        add(&mut found, &self.queues, &others.queues);
        add(&mut found, &self.traffic, &others.traffic);
        add(&mut found, &self.routers, &others.routers);
        add(&mut found, &self.route_metrics, &others.route_metrics);
        found
    }

    /// The names that a reader of scenarios needs of them.
    pub(crate) fn names(&self) -> Names {
        Names {
            congestion: self.congestion.declarations(),
            receivers: self.receivers.declarations(),
            recoveries: self.recoveries.declarations(),
            rate_controls: self.rate_controls.declarations(),
            queues: self.queues.clone(),
            traffic: self.traffic.declarations(),
            routers: self.routers.declarations(),
            route_metrics: self.route_metrics.declarations(),
            schemes: self.schemes.declarations(),
        }
    }
}
