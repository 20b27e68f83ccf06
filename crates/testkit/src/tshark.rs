//! Asking tshark about a capture.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// True if tshark runs here. Where it must (`INTERLAYER_REQUIRE_TSHARK=1`), its absence is a failure.
pub fn is_here() -> bool {
    let here = Command::new("tshark").arg("--version").output().is_ok_and(|out| out.status.success());
    #[expect(clippy::disallowed_methods, reason = "a switch of the tests, not of the core")]
    let required = std::env::var("INTERLAYER_REQUIRE_TSHARK").is_ok_and(|value| value == "1");
    assert!(here || !required, "INTERLAYER_REQUIRE_TSHARK=1, but tshark does not run");
    if !here {
        // Straight to the stream: what goes through println! is hidden when a test passes.
        let line = b"SKIPPED: tshark is not installed; INTERLAYER_REQUIRE_TSHARK=1 makes this a failure\n";
        io::stderr().write_all(line).unwrap();
    }
    here
}

/// A folder of this test's own, removed when done.
#[derive(Debug)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// A name that no other test of this machine has. The folder is not made.
    #[allow(clippy::new_without_default, reason = "a folder is nobody's default")]
    pub fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("interlayer-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Folder(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// The captures of a node's interfaces in a folder, the radio's first.
pub fn captures_of(folder: &Path, node: &str, seed: u64) -> Vec<PathBuf> {
    let is_of = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let rest = name.strip_prefix(node).and_then(|rest| rest.strip_suffix(&format!("-{seed}.pcapng")));
        rest.is_some_and(|interface| interface.is_empty() || interface.starts_with('.'))
    };
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(is_of);
    found.sort();
    found
}

/// Returns tshark's fields of each packet of a capture file. All checksums are verified; sequence numbers are absolute;
/// fragments are not put together. `more` are further preferences, such as `"wlan.retransmitted:FALSE"`.
pub fn fields(file: &Path, fields: &[&'static str], more: &[&str]) -> Vec<BTreeMap<&'static str, String>> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-n").arg("-r").arg(file).args(["-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]);
    let always = [
        "tcp.check_checksum:TRUE",
        "ip.check_checksum:TRUE",
        "udp.check_checksum:TRUE",
        "wlan.check_checksum:TRUE",
        "wlan.defragment:FALSE",
        "tcp.relative_sequence_numbers:FALSE",
    ];
    for preference in always.iter().chain(more) {
        tshark.args(["-o", preference]);
    }
    for field in fields {
        tshark.args(["-e", field]);
    }
    let text = said(&mut tshark);
    text.lines().map(|line| fields.iter().copied().zip(line.split('\t').map(String::from)).collect()).collect()
}

/// Returns the output of a call of tshark.
fn said(tshark: &mut Command) -> String {
    let out = tshark.output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// The source of each IP packet of a capture, by the names that the file itself brings: no resolver is asked.
pub fn sources(file: &Path) -> Vec<String> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(file).args(["-Nn", "-Y", "ip", "-T", "fields", "-E", "occurrence=f", "-e", "ip.src_host"]);
    said(&mut tshark).lines().map(String::from).collect()
}

/// The same of a capture in memory.
pub fn dissect(capture: &[u8], names: &[&'static str]) -> Vec<BTreeMap<&'static str, String>> {
    let folder = Folder::new();
    fs::create_dir_all(&folder.0).unwrap();
    let file = folder.0.join("capture.pcapng");
    fs::write(&file, capture).unwrap();
    fields(&file, names, &[])
}

/// One spelling for values that versions of tshark spell differently: hexadecimal and decimal, True and 1,
/// bytes with and without colons.
pub fn plain(value: &str) -> String {
    let one = |item: &str| match item {
        "True" => "1".into(),
        "False" => "0".into(),
        _ => match item.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16)) {
            Some(Ok(number)) => number.to_string(),
            _ => item.replace(':', ""),
        },
    };
    value.split(',').map(one).collect::<Vec<String>>().join(",")
}
