//! Snoop in a whole network: a server behind a wire, an access point, a mobile on a radio that loses MSDUs for good.

use crate::cells::run;
use proptest::prelude::*;

const SNOOP: &str = "[[scheme]]\nname = \"snoop\"\n";
const RENO: &str = r#"transport = { protocol = "tcp", preset = "rfc", congestion = "reno" }"#;

/// A server, 100 Mb/s and 2 ms from an access point, sends to a mobile at 11 Mb/s.
fn scenario(duration: &str, radio: &str, errors: &str, flow: &str, scheme: &str) -> String {
    format!(
        r#"
[scenario]
duration = "{duration}"

[radio]
standard = "802.11b"
data_rate = "11 Mb/s"
{radio}

[channel]
errors = {errors}

[[node]]
name = "server"

[[node]]
name = "ap"
role = "ap"

[[node]]
name = "mobile"
position = [5, 0]

[[link]]
between = ["server", "ap"]
rate = "100 Mb/s"
delay = "2 ms"

[[flow]]
from = "server"
to = "mobile"
{flow}

{scheme}
"#
    )
}

/// The sum of these columns of the flow over five seeds of 20 s, where one MSDU in `1 / per` is lost.
fn five<const N: usize>(per: f64, radio: &str, flow: &str, scheme: &str, columns: [&str; N]) -> [f64; N] {
    let errors = format!("{{ model = \"packet\", per = {per}, at = \"msdu\" }}");
    let text = scenario("20 s", radio, &errors, flow, scheme);
    let mut sums = [0.0; N];
    for seed in 1..=5 {
        let run = run(&text, seed);
        for (sum, column) in sums.iter_mut().zip(columns) {
            *sum += run.flow(0, column).unwrap_or_else(|| panic!("no column {column}"));
        }
    }
    sums
}

const COLUMNS: [&str; 3] = ["goodput_bps", "fast_retransmits", "timeouts"];

#[test]
fn a_wired_sender_learns_of_no_loss_and_keeps_nine_tenths_of_its_goodput() {
    // A lost MSDU takes all attempts that the MAC allows it: four here, the standard's limit for long frames.
    let radio = "max_attempts = 4";
    let [clean, ..] = five(0.0, radio, RENO, "", COLUMNS);
    let [plain, losses, _] = five(0.01, radio, RENO, "", COLUMNS);
    let [snoop, fast_retransmits, timeouts] = five(0.01, radio, RENO, SNOOP, COLUMNS);
    assert!(plain < 0.75 * clean && losses > 100.0, "the losses hurt: {plain} of {clean}, {losses} fast retransmits");
    assert_eq!((fast_retransmits, timeouts), (0.0, 0.0));
    assert!(snoop > 0.9 * clean, "{snoop} of {clean}");
}

#[test]
fn with_seven_attempts_it_keeps_what_the_air_leaves() {
    // Seven attempts with their backoff take some 40 ms of a channel that else carries a segment in 2.2 ms: even UDP, which
    // repairs nothing, keeps little more than four fifths.
    let udp = r#"transport = { protocol = "udp", datagram = "1500 B" }
traffic = { model = "cbr", rate = "9 Mb/s" }"#;
    let share = |flow, scheme| {
        let [clean] = five(0.0, "", flow, scheme, ["goodput_bps"]);
        let [lossy] = five(0.01, "", flow, scheme, ["goodput_bps"]);
        lossy / clean
    };
    let (air, snoop) = (share(udp, ""), share(RENO, SNOOP));
    assert!(air < 0.85, "{air}");
    assert!(snoop > 0.95 * air, "{snoop} of {air}");
    assert_eq!(five(0.01, "", RENO, SNOOP, ["fast_retransmits"]), [0.0]);
}

#[test]
fn a_sender_with_sack_and_timestamps_is_told_nothing_either() {
    let flow =
        r#"transport = { protocol = "tcp", preset = "rfc", congestion = "newreno", sack = true, timestamps = true }"#;
    for priority in [true, false] {
        let scheme = format!("{SNOOP}priority = {priority}\n");
        let told = five(0.01, "max_attempts = 4", flow, &scheme, ["fast_retransmits", "timeouts"]);
        assert_eq!(told, [0.0, 0.0], "priority = {priority}");
    }
}

#[test]
fn without_priority_it_repairs_as_well_and_slower() {
    let goodput = |scheme: &str| five(0.01, "max_attempts = 4", RENO, scheme, COLUMNS);
    let (first, last) = (goodput(SNOOP), goodput(&format!("{SNOOP}priority = false\n")));
    assert_eq!((first[1], last[1]), (0.0, 0.0));
    assert!(last[0] < 0.97 * first[0], "{} and {}", last[0], first[0]);
}

#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    errors: &'static str,
    reader: &'static str,
    transport: String,
    two_way: bool,
    queue: u32,
    host_delay_us: u32,
    scheme: String,
}

fn case() -> impl Strategy<Value = Case> {
    let errors = prop::sample::select(vec![
        "{ model = \"packet\", per = 0.3 }",
        "{ model = \"packet\", per = 0.3, control_per = 0.3 }",
        "{ model = \"packet\", per = 0.1, at = \"msdu\" }",
        "{ model = \"two-state\", bad = { per = 0.9 }, mean_good = \"200 ms\", mean_bad = \"200 ms\", at = \"msdu\" }",
    ]);
    let reader = prop::sample::select(vec![
        "{ model = \"instant\" }",
        "{ model = \"rate\", rate = \"500 kb/s\" }",
        "{ model = \"on-off\", on = \"200 ms\", off = \"700 ms\" }",
    ]);
    let transport = (
        prop::sample::select(vec!["tahoe", "reno", "newreno"]),
        prop::sample::select(vec!["every", "delayed-ack", "dynamic-delayed-ack"]),
        (any::<bool>(), any::<bool>()),
        prop::sample::select(vec!["\"off\"", "3", "\"auto\""]),
        prop::sample::select(vec![4_000u32, 16_000, 65_535, 200_000]),
        prop::sample::select(vec![0u32, 4_294_960_000]),
    )
        .prop_map(|(congestion, receiver, (timestamps, sack), scale, buffer, first)| {
            format!(
                r#"
[flow.transport]
protocol = "tcp"
preset = "rfc"
congestion = "{congestion}"
receiver = "{receiver}"
timestamps = {timestamps}
sack = {sack}
window_scale = {scale}
receive_buffer = "{buffer} B"
initial_sequence = {first}
min_rto = "200 ms"
max_rto = "2 s"
"#
            )
        });
    let scheme = (
        prop::sample::select(vec![1u32, 10, 100]),
        1u32..4,
        prop::sample::select(vec!["1 ms", "100 ms"]),
        1u32..11,
        (any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(|(cache, dup_acks, timeout, most, (hides, on_report, priority))| {
            let sack = if hides { "hide" } else { "keep" };
            format!(
                "{SNOOP}cache = {cache}\ndup_ack_threshold = {dup_acks}\nmin_timeout = \"{timeout}\"\nmax_retransmissions = {most}\n\
                 sack = \"{sack}\"\non_report = {on_report}\npriority = {priority}\n"
            )
        });
    let sizes = (prop::sample::select(vec![5u32, 50]), prop::sample::select(vec![0u32, 5_000]), any::<bool>());
    (any::<u32>(), errors, reader, transport, scheme, sizes).prop_map(
        |(seed, errors, reader, transport, scheme, (queue, host_delay_us, two_way))| Case {
            seed: u64::from(seed),
            errors,
            reader,
            transport,
            two_way,
            queue,
            host_delay_us,
            scheme,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_lost_and_repaired_every_byte_arrives_once_and_is_acknowledged_by_the_mobile(case in case()) {
        let bytes = 150_000;
        let reverse = if case.two_way { format!("{{ model = \"bulk\", bytes = \"{bytes} B\" }}") } else { "{ model = \"none\" }".into() };
        let flow = format!(
            "traffic = {{ model = \"bulk\", bytes = \"{bytes} B\" }}\nreverse = {reverse}\nreader = {}\n{}",
            case.reader, case.transport
        );
        let radio = format!("queue = {{ packets = {} }}", case.queue);
        let mut text = scenario("600 s", &radio, case.errors, &flow, &case.scheme);
        text = text.replace("position = [5, 0]", &format!("position = [5, 0]\nhost_delay = \"{} us\"", case.host_delay_us));
        let run = run(&text, case.seed);
        // A handshake may be lost seven times where every second MSDU is: then nothing was promised.
        if run.flow(0, "failed") == Some(1.0) && run.flow(0, "segments_sent") == Some(0.0) {
            return Ok(());
        }
        let number = |name: &str| run.flow(0, name).map(|value| value as u64);
        prop_assert_eq!(number("delivered_bytes_total"), Some(bytes), "{}", text);
        prop_assert_eq!(number("acked_bytes_total"), Some(bytes));
        prop_assert_eq!(number("acked_undelivered_bytes"), Some(0));
        prop_assert_eq!(number("reverse_delivered_bytes_total"), Some(if case.two_way { bytes } else { 0 }));
    }
}
