//! The place of a value in the file, and the facts known of the file while it is read.

use crate::directory::Directory;
use crate::error::Mistakes;
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

/// The facts known of the file before its tables are read.
#[derive(Debug)]
pub struct Context<'c> {
    /// The registered names.
    pub names: &'c Names,
    /// The nodes, by name.
    pub nodes: Directory,
    /// The radios' standard, on which some defaults depend; 802.11b if the file states none.
    pub standard: phy::Standard,
    /// True if signals have powers: a channel has `propagation`.
    pub has_powers: bool,
    /// The tables of any file that have a key of a name.
    pub(crate) places: fn(&str, &Names) -> Vec<String>,
    /// Mistakes in the shape of the file.
    shape: RefCell<Mistakes>,
    /// Mistakes that are told only if what they rest on has the right shape.
    later: RefCell<Mistakes>,
}

impl<'c> Context<'c> {
    /// Looks at `tree`, which may be wrong in any way.
    pub(crate) fn new(
        tree: &toml::Table,
        names: &'c Names,
        standard: phy::Standard,
        places: fn(&str, &Names) -> Vec<String>,
    ) -> Context<'c> {
        Context {
            names,
            nodes: Directory::new(tree),
            standard,
            places,
            has_powers: tree.get("channel").is_some_and(|channel| {
                let further = channel.get("further").and_then(toml::Value::as_array).into_iter().flatten();
                [channel].into_iter().chain(further).any(|channel| channel.get("propagation").is_some())
            }),
            shape: RefCell::default(),
            later: RefCell::default(),
        }
    }

    /// Notes a mistake in the shape of the file.
    pub(crate) fn note(&self, error: InputError) {
        self.shape.borrow_mut().note(error);
    }

    /// True if no further mistake would be told.
    pub(crate) fn has_enough_mistakes(&self) -> bool {
        self.shape.borrow().is_full()
    }

    /// All mistakes that were noted. Names of nodes, and what needs powers, are judged only if the tables that say what there is
    /// are right: one misspelt key in them would be many mistakes.
    pub(crate) fn into_mistakes(self) -> Mistakes {
        let Context { nodes, shape, later, .. } = self;
        let mut found = shape.into_inner();
        if !found.is_in(&["node", "channel"]) {
            nodes.clash.into_iter().for_each(|error| found.note(error));
            later.into_inner().into_result().map_or_else(|error| found.note(error), |()| ());
        }
        found
    }
}

/// The place of a value in the file, and the facts known of the file.
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

    /// A mistake here that is told only if nodes and channel have the right shape.
    pub fn later(&self, message: impl ToString) {
        self.cx.later.borrow_mut().note(self.error(message));
    }
}
