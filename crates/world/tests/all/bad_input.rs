//! The mistakes that only building and running find: one line that names the place, nothing half done, no panic. Those that
//! reading finds are in `scenario_errors.rs`, `scenario_checks.rs` and `scenario_keys.rs`.
//!
//! Schemes where they cannot sit, and two that claim one port: `ack_priority.rs` and `ack_return.rs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use world::{Record, RunError};

/// Two stations, and TCP with these keys.
fn text(transport: &str, more: &str) -> String {
    format!(
        "[scenario]\nduration = \"500 ms\"\n[radio]\nstandard = \"802.11b\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n[flow.transport]\nprotocol = \"tcp\"\npreset = \"rfc\"\n{transport}\n{more}"
    )
}

/// The one line a scenario is refused with.
fn refusal(text: &str) -> String {
    let error = world::parse(text, &[]).expect_err("it should be refused").to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn tcp_parameters_that_contradict_each_other_or_what_they_do_not_say() {
    for (keys, line) in [
        ("min_rto = \"2 s\"\nmax_rto = \"1 s\"", "flow[0].transport.min_rto: 2 s is more than max_rto, 1 s"),
        // The other one is a default.
        ("min_rto = \"70 s\"", "flow[0].transport.min_rto: 70 s is more than max_rto, 60 s"),
        ("max_rto = \"100 ms\"", "flow[0].transport.min_rto: 1 s is more than max_rto, 100 ms"),
    ] {
        assert_eq!(refusal(&text(keys, "")), line);
    }
}

#[test]
fn the_least_and_the_most_that_is_allowed_runs() {
    for keys in [
        "datagram = \"41 B\"",
        "datagram = \"53 B\"\ntimestamps = true",
        "receive_buffer = \"1 B\"\nsend_buffer = \"1 B\"",
        "receive_buffer = \"1073741824 B\"\nwindow_scale = \"auto\"",
        "receive_buffer = \"1073741824 B\"\nwindow_scale = 0",
        "delayed_ack_timeout = \"0 s\"\ndelayed_ack_count = 255\ngranularity = \"0 s\"",
        "initial_window = 1000000000\ninitial_ssthresh = \"1 B\"",
        "min_rto = \"1 ns\"\ninitial_rto = \"1 ns\"\nmax_rto = \"1 ns\"",
        "initial_sequence = 4294967295\nwindow_scale = 14",
    ] {
        for scheme in ["", "[[scheme]]\nname = \"lle-tcp\""] {
            // No panic, and the books balance. (An RTO of a nanosecond gives up at once: that is what was asked for.)
            let scenario = world::parse(&text(keys, scheme), &[]).unwrap_or_else(|error| panic!("{keys}: {error}"));
            let run = world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false));
            assert!(run.is_ok(), "{keys}: {run:?}");
        }
    }
}

#[test]
fn one_scheme_twice_at_a_node() {
    let twice = "[[scheme]]\nname = \"lle-tcp\"\n[[scheme]]\nname = \"lle-tcp\"\nat = [\"b\"]";
    assert_eq!(
        refusal(&text("", twice)),
        "scheme[1].name: scheme[0] is \"lle-tcp\" too, and one of them sits wherever it can"
    );
    let apart = "[[scheme]]\nname = \"lle-tcp\"\nat = [\"a\"]\n[[scheme]]\nname = \"lle-tcp\"\nat = [\"b\"]";
    assert!(world::parse(&text("", apart), &[]).is_ok());
}

#[test]
fn a_scheme_that_sits_nowhere_says_what_it_needs() {
    let line = refusal(&text("", "[[scheme]]\nname = \"snoop\""));
    assert_eq!(
        line,
        "scheme[0].name: snoop sits at no node of this scenario; it needs an access point (role = \"ap\") or a relay"
    );
}

#[test]
fn a_name_that_would_lead_a_capture_out_of_its_folder() {
    for name in ["/tmp/x", "x/y", "x\\y"] {
        let line = refusal(&text("", &format!("[[node]]\nname = '{name}'")));
        assert_eq!(line, format!("node[2].name: \"{name}\" contains a slash, and files are called by it"));
    }
}

/// A folder of its own, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("interlayer-bad-input-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Its entries, by name.
    fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(&self.0).unwrap().map(name).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs for this long with captures into `dir`.
fn captured(dir: &Path, duration: &str) -> Result<world::Run, RunError> {
    let scenario = world::parse(&text("", "").replace("500 ms", duration), &[]).unwrap();
    let record = Record { pcap_dir: Some(dir.to_owned()), ..Record::default() };
    world::run(&scenario, 1, &record, &AtomicBool::new(false))
}

/// The one line a run fails with.
fn failure(dir: &Path, duration: &str) -> String {
    let error = captured(dir, duration).expect_err("nothing can be written there");
    assert!(matches!(error, RunError::Capture(_)), "{error:?}");
    let line = error.to_string();
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}

#[test]
fn captures_where_they_can_be_written_are_whole() {
    let folder = Folder::new("good");
    // The folder need not be there.
    captured(&folder.0.join("new/deep"), "500 ms").unwrap();
    captured(&folder.0, "500 ms").unwrap();
    assert_eq!(folder.names(), ["a-1.pcapng", "b-1.pcapng", "new"]);
    for name in ["a-1.pcapng", "b-1.pcapng"] {
        let bytes = fs::read(folder.0.join(name)).unwrap();
        assert!(wire::pcapng::Capture::read(&bytes).unwrap().packets.len() > 100, "{name}");
        assert!(bytes == fs::read(folder.0.join("new/deep").join(name)).unwrap(), "{name}");
    }
}

#[test]
fn a_capture_folder_that_cannot_be_made() {
    // Permissions say nothing where the tests run as root: a file stands in the way.
    let folder = Folder::new("file");
    let file = folder.0.join("file");
    fs::write(&file, "mine").unwrap();
    for dir in [file.clone(), file.join("below")] {
        let line = failure(&dir, "500 ms");
        assert!(line.starts_with(&format!("capture: {}: ", dir.display())), "{line}");
    }
    assert_eq!((folder.names(), fs::read(&file).unwrap()), (vec!["file".to_owned()], b"mine".to_vec()));
}

#[test]
fn a_capture_that_cannot_be_opened_leaves_none_of_the_others_behind() {
    let folder = Folder::new("folder");
    fs::create_dir(folder.0.join("b-1.pcapng")).unwrap();
    let line = failure(&folder.0, "500 ms");
    assert!(line.starts_with(&format!("capture: {}: ", folder.0.join("b-1.pcapng").display())), "{line}");
    assert_eq!(folder.names(), ["b-1.pcapng"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_leaves_no_half_of_a_capture() {
    let folder = Folder::new("full");
    // Found while the run goes on; or, if all of it fits into a buffer, when that is emptied at the end.
    for duration in ["500 ms", "4 ms"] {
        std::os::unix::fs::symlink("/dev/full", folder.0.join("b-1.pcapng")).unwrap();
        let line = failure(&folder.0, duration);
        assert!(line.starts_with(&format!("capture: {}: ", folder.0.join("b-1.pcapng").display())), "{line}");
        assert_eq!(folder.names(), Vec::<String>::new());
    }
    assert!(Path::new("/dev/full").exists());
}

#[test]
fn an_interrupted_run_leaves_no_half_of_a_capture() {
    let folder = Folder::new("stop");
    // Told to stop before it begins: looked at after some thousand events.
    let scenario = world::parse(&text("", "").replace("500 ms", "60 s"), &[]).unwrap();
    let record = Record { pcap_dir: Some(folder.0.clone()), ..Record::default() };
    let result = world::run(&scenario, 1, &record, &AtomicBool::new(true));
    assert!(matches!(result, Err(RunError::Interrupted)), "{result:?}");
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn one_task_of_a_batch_that_cannot_write_takes_none_of_the_others_with_it() {
    let folder = Folder::new("batch");
    fs::create_dir(folder.0.join("b-2.pcapng")).unwrap();
    let scenario = world::parse(&text("", ""), &[]).unwrap();
    let record = Record { pcap_dir: Some(folder.0.clone()), ..Record::default() };
    let tasks = [(&scenario, 1), (&scenario, 2), (&scenario, 3)];
    let results = world::run_batch(&tasks, 2, &record);
    assert!(results[0].is_ok() && results[2].is_ok(), "{results:?}");
    assert!(matches!(results[1], Err(RunError::Capture(_))), "{:?}", results[1]);
    assert_eq!(folder.names(), ["a-1.pcapng", "a-3.pcapng", "b-1.pcapng", "b-2.pcapng", "b-3.pcapng"]);
}
