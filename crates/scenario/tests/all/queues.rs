//! Scenarios that together write every key of the queue disciplines.

/// RED in bytes at the radio.
pub const RED: &str = r#"
scenario = { duration = "1 s" }
layout = { model = "line", spacing = "10 m" }
radio = { standard = "802.11g", protection = "rts-cts", queue = { discipline = "red", bytes = "90 kB", min_th = 9000, max_th = 30000 } }
[[node]]
name = "a"
[[node]]
name = "b"
standard = "802.11b"
[[flow]]
from = "a"
to = "b"
"#;

/// A queue for each flow, in packets and in bytes, on the air and on a wire.
pub const DRR: &str = r#"
scenario = { duration = "1 s" }
radio = { standard = "802.11b", queue = { discipline = "drr", packets = 40 } }
[[node]]
name = "server"
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "a"
[[link]]
from = "server"
to = "ap"
rate = "10 Mb/s"
queue = { discipline = "drr", packets = 30 }
[[link]]
from = "ap"
to = "server"
rate = "10 Mb/s"
queue = { discipline = "drr", bytes = "30 kB" }
[[flow]]
from = "server"
to = "a"
"#;

/// A queue for each flow on the air, in bytes.
pub const DRR_BYTES: &str = r#"
scenario = { duration = "1 s" }
radio = { standard = "802.11b", queue = { discipline = "drr", bytes = "64 kB" } }
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
"#;

/// Queues that warn, in packets and in bytes.
pub const WARNING: &str = r#"
scenario = { duration = "1 s" }
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
queue = { discipline = "congestion-warning", packets = 100, threshold = 20 }
[[link]]
from = "b"
to = "a"
rate = "1 Mb/s"
queue = { discipline = "congestion-warning", bytes = "20 kB", threshold = 3000 }
[[flow]]
from = "a"
to = "b"
"#;

/// Queues that drop at the head, of the air, of a wire, of flows.
pub const CONTROLLED_DELAY: &str = r#"
scenario = { duration = "1 s" }
radio = { standard = "802.11a", queue = { discipline = "codel", packets = 1000, target = "20 ms", interval = "200 ms", ecn = true, ce_threshold = "1 ms" } }
[[node]]
name = "a"
[[node]]
name = "b"
position = [1, 0]
[[node]]
name = "server"
[[link]]
from = "a"
to = "server"
rate = "1 Mb/s"
queue = { discipline = "fq-codel", bytes = "200 kB", target = "10 ms", interval = "150 ms", ecn = false, ce_threshold = "2 ms", quantum = "300 B", flows = 4096, drop_batch = 32, memory_limit = "100 kB" }
[[link]]
from = "server"
to = "a"
rate = "1 Mb/s"
queue = { discipline = "fq-codel", packets = 10240 }
[[flow]]
from = "a"
to = "b"
"#;

/// Queues that drop at the head, limited otherwise and where the others have their defaults.
pub const CONTROLLED_DELAY_BYTES: &str = r#"
scenario = { duration = "1 s" }
radio = { standard = "802.11a", queue = { discipline = "codel", bytes = "1 MB" } }
[[node]]
name = "a"
[[node]]
name = "b"
position = [1, 0]
[[node]]
name = "server"
[[link]]
from = "a"
to = "server"
rate = "1 Mb/s"
queue = { discipline = "codel", bytes = "200 kB" }
[[link]]
from = "server"
to = "a"
rate = "1 Mb/s"
queue = { discipline = "codel", packets = 100, target = "10 ms", interval = "150 ms", ecn = true, ce_threshold = "2 ms" }
[[flow]]
from = "a"
to = "b"
"#;

/// FQ-CoDel on the air.
pub const FLOW_QUEUES: &str = r#"
scenario = { duration = "1 s" }
radio = { standard = "802.11a", queue = { discipline = "fq-codel", packets = 100, target = "10 ms", interval = "150 ms", ecn = false, ce_threshold = "2 ms", quantum = "300 B", flows = 4096, drop_batch = 32, memory_limit = "100 kB" } }
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
"#;

/// FQ-CoDel on the air, in bytes.
pub const FLOW_QUEUES_BYTES: &str = r#"
scenario = { duration = "1 s" }
radio = { standard = "802.11a", queue = { discipline = "fq-codel", bytes = "100 kB" } }
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
"#;
