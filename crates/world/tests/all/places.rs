//! How many places a plug-in touches: its file, one line in the registry, its test, its page. Everything else finds it there.

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The Rust sources below a folder.
fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

/// A kind of plug-ins.
struct Kind {
    ids: Vec<&'static str>,
    /// The folder with a file, or a folder, for each.
    folder: &'static str,
    /// The file with the registry.
    registry: &'static str,
}

fn kinds() -> [Kind; 7] {
    [
        Kind { ids: schemes::registry().ids(), folder: "crates/schemes/src", registry: "crates/schemes/src/lib.rs" },
        Kind { ids: tcp::cc::registry().ids(), folder: "crates/tcp/src/cc", registry: "crates/tcp/src/cc/mod.rs" },
        Kind { ids: tcp::ack::registry().ids(), folder: "crates/tcp/src/ack", registry: "crates/tcp/src/ack/mod.rs" },
        Kind {
            ids: mac::rate::registry().ids(),
            folder: "crates/mac/src/rate",
            registry: "crates/mac/src/rate/mod.rs",
        },
        Kind {
            ids: net::router::registry().ids(),
            folder: "crates/net/src/router",
            registry: "crates/net/src/router/mod.rs",
        },
        Kind {
            ids: queue::registry().ids(),
            folder: "crates/queue/src/discipline",
            registry: "crates/queue/src/discipline/mod.rs",
        },
        Kind {
            ids: traffic::registry().ids(),
            folder: "crates/traffic/src/model",
            registry: "crates/traffic/src/model/mod.rs",
        },
    ]
}

#[test]
fn a_plug_in_is_one_file_and_one_line() {
    for Kind { ids, folder, registry, .. } in kinds() {
        let text = read(registry);
        assert!(!ids.is_empty(), "{folder}");
        for id in &ids {
            let start = format!("    \"{id}\" => ");
            assert_eq!(text.matches(&start).count(), 1, "{registry} has a line for {id}");
            let rest = &text[text.find(&start).unwrap() + start.len()..];
            let (module, _) = rest.split_once(",\n").unwrap();
            let files = [format!("{folder}/{module}.rs"), format!("{folder}/{module}/mod.rs")];
            assert_eq!(
                files.iter().filter(|path| root().join(path).is_file()).count(),
                1,
                "{id} has one file in {folder}"
            );
            assert!(!text.contains(&format!("mod {module};")), "{registry}: the registry declares the module");
        }
        // And every file of the folder with an `INFO` is in the list.
        let mut files = Vec::new();
        sources(&root().join(folder), &mut files);
        let declares = |path: &&PathBuf| {
            let text = std::fs::read_to_string(path).unwrap();
            text.contains("pub const INFO: Info") || text.contains("pub static INFO: Info")
        };
        assert_eq!(files.iter().filter(declares).count(), ids.len(), "{folder}");
    }
}

#[test]
fn a_scheme_has_a_test_and_a_page() {
    let main = read("crates/schemes/tests/all/main.rs");
    for id in schemes::NAMES {
        let module = id.replace('-', "_");
        let test = format!("crates/schemes/tests/all/{module}.rs");
        assert!(root().join(&test).is_file() && main.contains(&format!("mod {module};")), "{test}");
        let pages = [format!("docs/schemes/{id}.md"), format!("docs/{id}.md")];
        assert!(pages.iter().any(|page| root().join(page).is_file()), "{id} has no page");
    }
}
