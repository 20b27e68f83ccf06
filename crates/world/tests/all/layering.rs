//! A crate depends only on crates above it, and no layer names a scheme (design.md section 2).

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// From the bottom up: each may depend on those before it.
const ORDER: [&str; 16] = [
    "testkit", "units", "plugin", "engine", "wire", "queue", "phy", "mac", "tcp", "net", "scenario", "schemes",
    "node", "world", "live", "py",
];

fn packages() -> Vec<Value> {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--no-deps", "--format-version", "1", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let all: Value = serde_json::from_slice(&out.stdout).expect("cargo writes JSON");
    all["packages"].as_array().expect("a list of packages").clone()
}

/// The place of one of our packages in the order; `None` for others' packages.
fn rank(package: &str) -> Option<usize> {
    let name = package.strip_prefix("interlayer-")?;
    let place = ORDER.iter().position(|n| *n == name);
    Some(place.unwrap_or_else(|| panic!("crates/{name} has no place in the order")))
}

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn a_crate_depends_only_on_crates_above_it_in_the_list() {
    let packages = packages();
    let ours: Vec<&Value> = packages.iter().filter(|p| rank(p["name"].as_str().expect("a name")).is_some()).collect();
    assert!(ours.len() >= 10, "the workspace has its crates");
    for package in ours {
        let name = package["name"].as_str().expect("a name");
        for dependency in package["dependencies"].as_array().expect("a list") {
            // Tests and benchmarks may look up; what ships may not.
            if dependency["kind"] == "dev" {
                continue;
            }
            let on = dependency["name"].as_str().expect("a name");
            if let Some(other) = rank(on) {
                assert!(rank(name) > Some(other), "{name} depends on {on}");
            }
        }
    }
}

#[test]
fn no_layer_below_the_schemes_names_one() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/");
    let below = ORDER.iter().take_while(|name| **name != "schemes").map(|name| crates.join(name).join("src"));
    let mut files = Vec::new();
    below.filter(|dir| dir.is_dir()).for_each(|dir| sources(&dir, &mut files));
    assert!(files.len() > 30, "the layers have their sources");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source is text");
        for scheme in schemes::SCHEMES {
            // As code would spell it: the id, or the module's name.
            for spelling in [scheme.info.id.to_owned(), scheme.info.id.replace('-', "_")] {
                assert!(!names(&text, &spelling), "{} names {spelling}", file.display());
            }
        }
    }
}

/// Whether `text` has `word`, not as a part of a longer one.
fn names(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[test]
fn a_name_is_found_whole_and_not_inside_another() {
    assert!(names("// as in lle-tcp.", "lle-tcp") && names("lle_tcp::INFO", "lle_tcp"));
    assert!(!names("let seln = 1; pub fn eln_like()", "eln"));
}
