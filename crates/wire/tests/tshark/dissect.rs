//! Asking tshark about a capture.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

/// Whether tshark runs here. Where it must, its absence is a failure.
pub fn tshark_is_here() -> bool {
    let here = Command::new("tshark").arg("--version").output().is_ok_and(|out| out.status.success());
    #[expect(clippy::disallowed_methods, reason = "a switch of the test, not of the core")]
    let required = std::env::var("INTERLAYER_REQUIRE_TSHARK").is_ok_and(|value| value == "1");
    assert!(here || !required, "INTERLAYER_REQUIRE_TSHARK=1, but tshark does not run");
    if !here {
        // Straight to the stream: what goes through println! is hidden when a test passes.
        let line = b"SKIPPED: tshark is not installed; INTERLAYER_REQUIRE_TSHARK=1 makes this a failure\n";
        io::stderr().write_all(line).unwrap();
    }
    here
}

/// A capture file of this process, removed when done.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What tshark says about the fields of each packet.
pub fn dissect(capture: &[u8], fields: &[&'static str]) -> Vec<BTreeMap<&'static str, String>> {
    let file = File(std::env::temp_dir().join(format!("interlayer-wire-{}.pcapng", std::process::id())));
    fs::write(&file.0, capture).unwrap();
    let mut tshark = Command::new("tshark");
    tshark.arg("-n").arg("-r").arg(&file.0).args(["-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]);
    for preference in [
        "tcp.check_checksum:TRUE",
        "ip.check_checksum:TRUE",
        "udp.check_checksum:TRUE",
        "wlan.check_checksum:TRUE",
        "wlan.defragment:FALSE",
        "tcp.relative_sequence_numbers:FALSE",
    ] {
        tshark.args(["-o", preference]);
    }
    for field in fields {
        tshark.args(["-e", field]);
    }
    let out = tshark.output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    text.lines().map(|line| fields.iter().copied().zip(line.split('\t').map(String::from)).collect()).collect()
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
