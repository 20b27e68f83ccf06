//! Two places at most for each thing that is added, its test and its page apart. A plug-in has its file and a line in the registry, a key
//! its declaration and the field that it sets, a metric its declaration, a PPDU format its file and a line. Everything else finds them there.

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The sources with that ending below a folder.
fn sources(dir: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, ending, files);
        } else if path.extension().is_some_and(|end| end == ending) {
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

fn kinds() -> [Kind; 9] {
    [
        Kind { ids: schemes::registry().ids(), folder: "crates/schemes/src", registry: "crates/schemes/src/lib.rs" },
        Kind { ids: tcp::cc::registry().ids(), folder: "crates/tcp/src/cc", registry: "crates/tcp/src/cc/mod.rs" },
        Kind {
            ids: tcp::recovery::registry().ids(),
            folder: "crates/tcp/src/recovery",
            registry: "crates/tcp/src/recovery/mod.rs",
        },
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
            ids: net::metric::registry().ids(),
            folder: "crates/net/src/metric",
            registry: "crates/net/src/metric/mod.rs",
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
        sources(&root().join(folder), "rs", &mut files);
        let declares = |path: &&PathBuf| {
            let text = std::fs::read_to_string(path).unwrap();
            text.contains("pub const INFO: Info") || text.contains("pub static INFO: Info")
        };
        assert_eq!(files.iter().filter(declares).count(), ids.len(), "{folder}");
    }
}

/// The folder with the formats of the PHY.
const FORMATS: &str = "crates/phy/src/format";

/// The files that name things, as path and text: the sources of the crates and of the Python package, without tests, comments,
/// rules that join several keys (which of them a live run takes, too), and lists of names that are not modelled.
fn product() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        sources(&entry.unwrap().path().join("src"), "rs", &mut files);
    }
    for ending in ["py", "pyi"] {
        sources(&root().join("python/interlayer"), ending, &mut files);
    }
    let path = |file: &PathBuf| file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    let is_left_out = |path: &String| {
        let others = [
            "/tests.rs",
            "/testing.rs",
            "plugin/src/absent.rs",
            "scenario/src/check.rs",
            "scenario/src/check_mcs.rs",
            "study/recording.py",
        ];
        others.iter().any(|end| path.ends_with(end)) || path.contains("/templates/")
    };
    files
        .iter()
        .map(path)
        .filter(|path| !is_left_out(path))
        .map(|path| {
            let text = code(&read(&path));
            (path, text)
        })
        .collect()
}

/// A source without its unit tests, comments and docstrings.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let undocumented: String = text.split("\"\"\"").step_by(2).collect();
    let is_code = |line: &&str| !["//", "#"].iter().any(|mark| line.trim_start().starts_with(mark));
    undocumented.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect()
}

/// True if `text` has `id` between two characters, where there are any, that `is_it` takes for a mention.
fn has(text: &str, id: &str, is_it: fn(char, char) -> bool) -> bool {
    text.match_indices(id).any(|(at, _)| {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        let after = text[at + id.len()..].chars().next().unwrap_or(' ');
        is_it(before, after)
    })
}

/// `"id"`
fn is_quoted(before: char, after: char) -> bool {
    (before, after) == ('"', '"')
}

/// `"id"`, `it.id`, `id: value`
fn is_key(before: char, after: char) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    is_quoted(before, after)
        || (before == '.' && !is_word(after) && after != '(')
        || (!is_word(before) && after == ':')
}

/// `word`, not as a part of a longer one
fn is_word(before: char, after: char) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !is_part(before) && !is_part(after)
}

/// The formats of the PHY by the path at which other crates find them, and the files that declare them.
fn formats() -> Vec<(String, String)> {
    let mut files = Vec::new();
    sources(&root().join(FORMATS), "rs", &mut files);
    let declared = |file: &PathBuf| -> Vec<(String, String)> {
        let module = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = code(&std::fs::read_to_string(file).unwrap());
        let statics = text.lines().filter_map(|line| line.strip_prefix("pub static ")?.split_once(": Format "));
        statics.map(|(name, _)| (format!("format::{name}"), module.clone())).collect()
    };
    files.iter().flat_map(declared).collect()
}

#[test]
fn a_format_is_one_file_and_one_line() {
    let text = read(&format!("{FORMATS}/mod.rs"));
    let formats = formats();
    assert!(formats.len() >= 3, "{formats:?}");
    for (path, module) in formats {
        let name = path.trim_start_matches("format::");
        let lines = text.lines().filter(|line| line.starts_with(&format!("pub use {module}::")));
        let told = lines.filter(|line| has(line, name, is_word)).count();
        assert_eq!(told, 1, "{FORMATS}/mod.rs has a line for {name}");
    }
}

/// The most places of a thing.
const MOST: usize = 2;

/// Things of a kind that are added one by one.
struct Things {
    kind: &'static str,
    ids: Vec<String>,
    /// The places where they count: the beginnings of paths. Layers use what they have.
    within: &'static [&'static str],
    is_it: fn(char, char) -> bool,
    /// Places that are not found by the name: the layer whose field a key sets.
    other: usize,
    /// Those that are named in more places on purpose. The list does not grow: a new one has no reason to be here.
    known: &'static [&'static str],
}

impl Things {
    /// The things named in too many places, or listed as such without being so.
    fn mistakes(&self, product: &[(String, String)]) -> Vec<String> {
        let counts = |path: &str| self.within.iter().any(|start| path.starts_with(start));
        let of = |id: &String| {
            let named = product.iter().filter(|(path, text)| counts(path) && has(text, id, self.is_it));
            let places: Vec<&str> = named.map(|(path, _)| path.as_str()).collect();
            let (is_many, is_known) = (places.len() + self.other > MOST, self.known.contains(&id.as_str()));
            (is_many != is_known).then(|| format!("{} {id}: {} others, {places:?}", self.kind, self.other))
        };
        self.ids.iter().filter_map(of).collect()
    }
}

/// The keys of a table, and whether each says which field it sets.
fn keys(file: &str, table: &str) -> Vec<(String, bool)> {
    let text = code(&read(file));
    let table = &text[text.find(&format!("pub struct {table} ")).expect(table)..];
    let lines = table.lines().skip(1).take_while(|line| !line.starts_with("    }"));
    let key = |line: &str| Some((line.trim().split_once(": ")?.0.to_owned(), line.contains(", sets ")));
    lines.filter_map(key).collect()
}

fn things() -> Vec<Things> {
    const ALL: &[&str] = &["crates/", "python/"];
    const WIRING: &[&str] = &["crates/scenario/", "crates/world/", "crates/node/", "crates/py/", "python/"];
    let mut all: Vec<Things> = kinds()
        .into_iter()
        .map(|kind| Things {
            kind: kind.folder,
            ids: kind.ids.iter().map(|id| (*id).to_owned()).collect(),
            within: ALL,
            is_it: is_quoted,
            other: 0,
            known: PLUG_INS,
        })
        .collect();
    let mut columns: Vec<String> = world::metrics().map(|(_, metric)| metric.column.to_owned()).collect();
    columns.sort();
    columns.dedup(); // of several tables
    all.push(Things { kind: "metric", ids: columns, within: ALL, is_it: is_quoted, other: 0, known: METRICS });
    let formats = formats().into_iter().map(|(path, _)| path).collect();
    // Its file and the list of formats: the other layers ask a mode.
    all.push(Things {
        kind: "format",
        ids: formats,
        within: &[
            "crates/mac/",
            "crates/scenario/",
            "crates/wire/",
            "crates/world/",
            "crates/schemes/",
            "crates/py/",
        ],
        is_it: is_word,
        other: 2,
        known: LEGACY_FORMATS,
    });
    for (kind, file, table) in [
        ("TCP key", "crates/scenario/src/connection.rs", "Tcp"),
        ("radio key", "crates/scenario/src/radio.rs", "Radio"),
    ] {
        for sets in [true, false] {
            let own = keys(file, table).into_iter().filter(|(_, own)| *own == sets).map(|(key, _)| key);
            let (ids, other) = (own.collect::<Vec<_>>(), usize::from(sets));
            assert!(ids.len() > 4, "{table}: {ids:?}");
            all.push(Things { kind, ids, within: WIRING, is_it: is_key, other, known: KEYS });
        }
    }
    all
}

// Its stations cannot read OFDM: protection asks for it by name.
const LEGACY_FORMATS: &[&str] = &["format::DSSS"];

// Presets, defaults, hints and parts in Python name them, or other things are called so, too.
const PLUG_INS: &[&str] =
    &["newreno", "reno", "tahoe", "veno", "sack", "every", "fixed", "drr", "fq-codel", "red", "ftp"];

// Tables on the screen, comparisons and advice choose them, or other things are called so, too.
const METRICS: &[&str] = &[
    "goodput_bps",
    "datagram_throughput_bps",
    "retransmissions",
    "timeouts",
    "rtt_mean_s",
    "jain",
    "offered_packets",
    "dropped_packets",
    "mean_packets",
    "mean_wait_s",
    "exchanges",
    "received",
    "captured",
    "failed",
];

// A node or a category may say them for itself, a plug-in is chosen by them, the whole world follows them, or other things are called so, too.
const KEYS: &[&str] = &[
    "congestion",
    "receiver",
    "recovery",
    "send_buffer",
    "timestamps",
    "byte_counting",
    "ecn",
    "local_congestion",
    "dup_ack_threshold",
    "standard",
    "data_rate",
    "mcs",
    "streams",
    "width",
    "guard_interval",
    "coding",
    "aggregation",
    "rate_control",
    "preamble",
    "rts_threshold",
    "max_attempts",
    "tx_power",
    "access",
    "edca",
    "cw_min",
    "cw_max",
    "slot",
    "queue",
];

#[test]
fn what_is_added_is_named_in_two_places_at_most() {
    let product = product();
    let mistakes: Vec<String> = things().iter().flat_map(|things| things.mistakes(&product)).collect();
    assert!(mistakes.is_empty(), "{} mistakes:\n{}", mistakes.len(), mistakes.join("\n"));
}

#[test]
fn a_third_place_of_a_new_thing_is_found() {
    for things in things() {
        let things = Things { ids: vec!["brand_new".to_owned()], ..things };
        let mention = |n| (format!("crates/world/src/mention{n}.rs"), "x(\"brand_new\")".to_owned());
        let product: Vec<_> = (things.other..=MOST).map(mention).collect();
        let (last, others) = product.split_last().unwrap();
        assert_eq!(things.mistakes(others), [""; 0]);
        let mistakes = things.mistakes(&product);
        assert!(mistakes.len() == 1 && mistakes[0].contains(&last.0), "{}: {mistakes:?}", things.kind);
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
