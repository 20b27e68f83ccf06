//! Rows of results: names and values.

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A name or a reason.
    Text(String),
    /// A count.
    Count(u64),
    /// A measured quantity, or `NaN` where nothing was measured.
    Real(f64),
}

/// A row: names in their order, and values.
pub type Record = Vec<(&'static str, Cell)>;

/// The number of that name; `None` if there is none, or if it is a text.
pub(crate) fn number(record: &Record, name: &str) -> Option<f64> {
    record.iter().find(|(n, _)| *n == name).and_then(|(_, cell)| match cell {
        Cell::Count(n) => Some(*n as f64),
        Cell::Real(x) => Some(*x),
        Cell::Text(_) => None,
    })
}
