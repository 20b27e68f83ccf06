//! The plug-ins of a program.

use crate::scenario::Names;
use plugin::Registry;
use schemes::Scheme;
use tcp::{ack, cc, recovery};

/// The plug-ins that a scenario may name. A program adds its own to [`Registries::builtin`].
#[derive(Debug, Clone)]
pub struct Registries {
    /// Cross-layer schemes.
    pub schemes: Registry<Scheme>,
    /// Congestion controls.
    pub congestion: Registry<cc::Make>,
    /// Acknowledgement policies of TCP receivers.
    pub receivers: Registry<ack::Make>,
    /// Loss recoveries of TCP senders.
    pub recoveries: Registry<recovery::Make>,
    /// Routers.
    pub routers: Registry<net::router::Make>,
}

impl Registries {
    /// Those of this workspace.
    pub fn builtin() -> Registries {
        Registries {
            schemes: schemes::registry(),
            congestion: cc::registry(),
            receivers: ack::registry(),
            recoveries: recovery::registry(),
            routers: net::router::registry(),
        }
    }

    /// What a reader of scenarios needs of them.
    pub(crate) fn names(&self) -> Names {
        Names {
            congestion: self.congestion.declarations(),
            receivers: self.receivers.declarations(),
            recoveries: self.recoveries.declarations(),
            routers: self.routers.declarations(),
            schemes: self.schemes.declarations(),
        }
    }
}
