//! Rows of results: columns and values. A column is declared once (`columns!`): its name with its unit, a line that says what it is, and
//! how it is read off what was measured.

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

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(count)
    }
}

impl From<bool> for Cell {
    fn from(fact: bool) -> Cell {
        Cell::Count(u64::from(fact))
    }
}

impl From<f64> for Cell {
    fn from(quantity: f64) -> Cell {
        Cell::Real(quantity)
    }
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

/// `sum` over `n`, in seconds; NaN of none.
pub(crate) fn mean_s(sum: units::Dur, n: u64) -> f64 {
    if n == 0 { f64::NAN } else { sum.as_secs_f64() / n as f64 }
}

/// The values that a metric can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// From 0 on.
    Amount,
    /// From 0 to 1.
    Share,
    /// Jain's index of n rows: from 1/n to 1.
    Index,
}

impl Support {
    /// As lists call it.
    pub const fn name(self) -> &'static str {
        match self {
            Support::Amount => "amount",
            Support::Share => "share",
            Support::Index => "index",
        }
    }
}

/// A column of numbers, as lists of metrics show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Its name in results, with its unit.
    pub column: &'static str,
    /// A line about it.
    pub summary: &'static str,
    /// The values that it can have.
    pub support: Support,
    is_whole: bool,
}

impl Metric {
    pub(crate) const fn new(column: &'static str, summary: &'static str) -> Metric {
        Metric { column, summary, support: Support::Amount, is_whole: false }
    }

    pub(crate) const fn share(self) -> Metric {
        Metric { support: Support::Share, ..self }
    }

    pub(crate) const fn index(self) -> Metric {
        Metric { support: Support::Index, ..self }
    }

    /// Without its unit the name would say nothing, or be another metric's.
    pub(crate) const fn whole(self) -> Metric {
        Metric { is_whole: true, ..self }
    }

    /// The end of the column's name that is its unit: `bps`, `s`, `bytes`, `packets`; empty for counts, shares and indices.
    fn suffix(&self) -> &'static str {
        let end = self.column.trim_end_matches("_total").rsplit('_').next();
        end.filter(|end| ["bps", "s", "bytes", "packets"].contains(end)).unwrap_or("")
    }

    /// Its unit: `b/s`, `s`, `bytes`, `packets`; `1` for counts, shares and indices.
    pub fn unit(&self) -> &'static str {
        match self.suffix() {
            "bps" => "b/s",
            "" => "1",
            other => other,
        }
    }

    /// Its name without the unit, where that says enough.
    pub fn name(&self) -> &'static str {
        let short = self.column.strip_suffix(self.suffix()).and_then(|head| head.strip_suffix('_'));
        short.filter(|_| !self.is_whole).unwrap_or(self.column)
    }
}

/// A record with named columns.
pub(crate) trait Columns {
    /// Those of numbers, in the order of results.
    const METRICS: &'static [Metric];

    /// Adds its columns to a row.
    fn put(&self, row: &mut Record);

    /// A row of its columns alone.
    fn record(&self) -> Record {
        let mut row = Record::new();
        self.put(&mut row);
        row
    }
}

/// Adds a column to a row that has it.
pub(crate) fn put(row: &mut Record, column: &'static str, value: impl FnOnce() -> Option<Cell>) {
    row.extend(value().map(|cell| (column, cell)));
}

/// The columns of a type.
///
/// ```text
/// columns! { impl Back<'_>, |it| {
///     "from" => it.from,
///     "goodput_bps": "payload delivered at `to`" => it.rate(it.payload),
///     "failed": share, "TCP: 1 if the connection failed" => it.has_failed,
///     "ecn_cuts": "TCP: window cuts that answered a mark" => it.connection?.ecn_cuts,
/// } }
/// ```
///
/// - A column with a line that says what it is, is a metric. Its name ends in its unit ([`Metric::unit`]).
/// - `share`, `index`: what values it can have; without a word, any from 0 on.
/// - `whole`: lists show its name with the unit.
/// - A value that `?` leaves is a column that this row has not.
macro_rules! columns {
    (impl $Of:ty, |$it:ident| {
        $($column:literal $(: $($word:ident,)* $summary:literal)? => $value:expr),+ $(,)?
    }) => {
        impl $crate::record::Columns for $Of {
            const METRICS: &'static [$crate::record::Metric] =
                &[$($($crate::record::Metric::new($column, $summary)$(.$word())*,)?)+];

            fn put(&self, row: &mut $crate::record::Record) {
                let $it = self;
                $($crate::record::put(row, $column, || Some($crate::record::Cell::from($value)));)+
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Cwnd(Option<f64>);

    columns! { impl Cwnd, |it| {
        "state" => "open",
        "cwnd_mean_bytes": "its mean" => it.0?,
        "sent_bytes": whole, "bytes sent" => 7,
        "failed": share, "1 if it failed" => true,
        "acked_bytes_total": "bytes acknowledged" => 0,
    } }

    #[test]
    fn a_column_is_declared_once() {
        assert_eq!(Cwnd(None).record().len(), 4, "a column that the row has not");
        let record = Cwnd(Some(1.5)).record();
        assert_eq!(record[..2], [("state", Cell::Text("open".to_owned())), ("cwnd_mean_bytes", Cell::Real(1.5))]);
        assert_eq!((number(&record, "failed"), number(&record, "state")), (Some(1.0), None));
        let listed: Vec<_> = Cwnd::METRICS.iter().map(|it| (it.name(), it.unit(), it.support.name())).collect();
        let bytes = |name| (name, "bytes", "amount");
        assert_eq!(
            listed,
            [bytes("cwnd_mean"), bytes("sent_bytes"), ("failed", "1", "share"), bytes("acked_bytes_total")]
        );
    }
}
