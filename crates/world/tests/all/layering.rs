//! A crate depends only on crates above it, and no layer names a scheme (docs/design/architecture.md).

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// From the bottom up: each may depend on those before it.
const ORDER: [&str; 20] = [
    "testkit", "units", "plugin", "engine", "wire", "queue", "phy", "mac", "tcp", "tfrc", "traffic", "motion", "net",
    "scenario", "schemes", "node", "world", "live", "py", "module",
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

/// The folder of the crates.
fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The place of one of our packages in the order; `None` for others' packages and for crates of tests.
fn rank(package: &str) -> Option<usize> {
    let name = package.strip_prefix("interlayer-").filter(|name| !name.ends_with("-tests"))?;
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
    let crates = crates();
    let below = ORDER.iter().take_while(|name| **name != "schemes").map(|name| crates.join(name).join("src"));
    let mut files = Vec::new();
    below.filter(|dir| dir.is_dir()).for_each(|dir| sources(&dir, &mut files));
    assert!(files.len() > 30, "the layers have their sources");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source is text");
        for id in schemes::NAMES {
            let module = id.replace('-', "_");
            let is_plain_word = !module.contains('_');
            // A word of the language may stand anywhere; as a scheme's name it stands in quotes or before its items.
            let spellings = if is_plain_word {
                [format!("\"{module}\""), format!("{module}::")]
            } else {
                [(*id).to_owned(), module]
            };
            for spelling in spellings {
                assert!(!names(&text, &spelling), "{} names {spelling}", file.display());
            }
        }
    }
}

/// True if `text` has `word`, not as a part of a longer one.
fn names(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        // A word that ends in a sign of its own needs no boundary there.
        let (first, last) = (word.starts_with(is_part), word.ends_with(is_part));
        let is_inside = first && before.is_some_and(is_part) || last && after.is_some_and(is_part);
        !is_inside
    })
}

#[test]
fn a_name_is_found_whole_and_not_inside_another() {
    assert!(names("// as in lle-tcp.", "lle-tcp") && names("lle_tcp::INFO", "lle_tcp"));
    assert!(!names("let seln = 1; pub fn eln_like()", "eln"));
    assert!(names("find(\"tap\")", "\"tap\"") && names("tap::INFO", "tap::") && !names("// a tap", "tap::"));
}

/// The modules right below a crate's root that each of them uses, tests left out.
fn uses(src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut files = Vec::new();
    sources(src, &mut files);
    let shipped = |file: &Path| {
        let text = std::fs::read_to_string(file).expect("a source is text");
        let code = text.split("#[cfg(test)]").next().expect("there is a first part");
        code.lines().filter(|line| !line.trim().starts_with("//")).map(|line| format!("{line}\n")).collect::<String>()
    };
    // A name that the root passes on is of the module that has it.
    let root = shipped(&src.join("lib.rs"));
    let passed_on = root.split("use ").skip(1).filter_map(|rest| rest.split(';').next()?.split_once("::"));
    let owners: BTreeMap<&str, &str> =
        passed_on.flat_map(|(module, names)| words(names).map(move |name| (name, module))).collect();
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.ends_with("lib.rs")) {
        let place = file.strip_prefix(src).expect("it is below").with_extension("");
        let module = place.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
        let text = shipped(file);
        let named = text.split("crate::").skip(1).flat_map(|rest| match rest.strip_prefix('{') {
            Some(list) => words(list.split('}').next().unwrap_or_default()).collect::<Vec<_>>(),
            None => words(rest).take(1).collect(),
        });
        let of = |name: &str| owners.get(name).map_or(name, |owner| *owner).to_owned();
        modules.entry(module).or_default().extend(named.map(of));
    }
    let known: BTreeSet<String> = modules.keys().cloned().collect();
    for (module, used) in &mut modules {
        used.retain(|other| other != module && known.contains(other));
    }
    modules
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The modules that can never be put below everything they use: those of a circle, and those above it.
fn circles(mut modules: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    while let Some(lowest) = modules.iter().find(|(_, used)| used.is_empty()).map(|(name, _)| name.clone()) {
        modules.remove(&lowest);
        modules.values_mut().for_each(|used| _ = used.remove(&lowest));
    }
    modules.into_keys().collect()
}

#[test]
fn no_module_uses_one_that_uses_it() {
    // Left: `scenario` (item and shape), `mac` (docs/design/progress.md).
    for name in ["world", "node", "net", "plugin", "tcp", "schemes", "wire"] {
        let src = crates().join(name).join("src");
        let modules = uses(&src);
        assert!(modules.len() > 3, "{name} has its modules");
        assert_eq!(circles(modules), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_circle_is_found() {
    let of = |pairs: &[(&str, &str)]| {
        let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (user, used) in pairs {
            modules.entry((*user).to_owned()).or_default().insert((*used).to_owned());
            modules.entry((*used).to_owned()).or_default();
        }
        circles(modules)
    };
    assert_eq!(of(&[("a", "b"), ("b", "c"), ("a", "c")]), Vec::<String>::new());
    assert_eq!(of(&[("a", "b"), ("b", "c"), ("c", "b")]), ["a", "b", "c"]);
}

#[test]
fn no_file_has_more_than_600_lines_of_code_outside_its_tests() {
    let crates = crates();
    let mut files = Vec::new();
    for dir in ORDER.iter().map(|name| crates.join(name).join("src")).filter(|dir| dir.is_dir()) {
        sources(&dir, &mut files);
    }
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source is text");
        let shipped = text.split("#[cfg(test)]\nmod tests {").next().expect("there is a first part");
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        let lines = shipped.lines().filter(is_code).count();
        assert!(lines <= 600, "{} has {lines} lines of code", file.display());
    }
}
