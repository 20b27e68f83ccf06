//! Where a value stands, and what is known of the file while it is read.

use crate::directory::Directory;
use crate::{InputError, Names};
use core::cell::RefCell;
use core::fmt;
use plugin::suggest::quote;

/// The place of a value: a list from the leaf to the root, written out only when something is wrong.
#[derive(Debug, Clone, Copy)]
pub enum Path<'p> {
    /// The file.
    Root,
    /// A key of a table.
    Key(&'p Path<'p>, &'p str),
    /// An entry of an array.
    Index(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
            Path::Key(parent, key) => {
                if !matches!(parent, Path::Root) {
                    write!(f, "{parent}.")?;
                }
                let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                if !key.is_empty() && key.len() <= 60 && key.chars().all(bare) {
                    f.write_str(key)
                } else {
                    f.write_str(&quote(key))
                }
            }
        }
    }
}

/// What is known of the file before its tables are read.
#[derive(Debug)]
pub struct Context<'c> {
    /// The registered names.
    pub names: &'c Names,
    /// The nodes, by name.
    pub nodes: Directory,
    /// The radios' standard, on which some defaults depend; 802.11b if the file states none.
    pub standard: phy::Standard,
    /// Whether signals have powers: the file has `channel.propagation`.
    pub has_powers: bool,
    /// The first mistake that is told only if the shape of the whole file is right.
    later: RefCell<Option<InputError>>,
}

impl<'c> Context<'c> {
    /// Looks at `tree`, which may be wrong in any way.
    pub(crate) fn new(tree: &toml::Table, names: &'c Names) -> Context<'c> {
        let word = tree.get("radio").and_then(|radio| radio.get("standard")).and_then(toml::Value::as_str);
        Context {
            names,
            nodes: Directory::new(tree),
            standard: word.and_then(crate::words::find).unwrap_or(phy::Standard::B),
            has_powers: tree.get("channel").is_some_and(|channel| channel.get("propagation").is_some()),
            later: RefCell::default(),
        }
    }

    /// The first mistake among names of nodes.
    pub(crate) fn into_later(self) -> Option<InputError> {
        let Context { nodes, later, .. } = self;
        nodes.clash.or(later.into_inner())
    }
}

/// Where a value stands in the file, and what is known of the file.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    /// The place.
    pub path: Path<'a>,
    /// The file.
    pub cx: &'a Context<'a>,
}

impl<'a> At<'a> {
    pub(crate) fn root(cx: &'a Context<'a>) -> At<'a> {
        At { path: Path::Root, cx }
    }

    /// A key of the table that stands here.
    pub fn key<'b>(&'b self, key: &'b str) -> At<'b> {
        At { path: Path::Key(&self.path, key), cx: self.cx }
    }

    /// An entry of the array that stands here.
    pub fn index(&self, index: usize) -> At<'_> {
        At { path: Path::Index(&self.path, index), cx: self.cx }
    }

    /// A mistake here.
    pub fn error(&self, message: impl ToString) -> InputError {
        InputError::new(self.path, message)
    }

    /// A mistake here that is told only if the shape of the whole file is right, and no other came before it.
    pub fn later(&self, message: impl ToString) {
        self.cx.later.borrow_mut().get_or_insert_with(|| self.error(message));
    }
}
