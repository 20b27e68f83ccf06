//! A line of a trace.

use super::{FASTEST, Step};
use units::SimTime;

/// The kind of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// ns-2's: `$node_(3) set X_ 12.5`, `$ns_ at 2.0 "$node_(3) setdest 40 60 1.5"`.
    Ns2,
    /// Rows of time, node, x, y: where the node is then. Between rows it goes straight.
    Csv,
}

/// The content of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Line {
    /// A comment, what God is told, an empty line, the head of a table.
    Nothing,
    /// A coordinate of a node's place at the start.
    Place { node: usize, axis: usize, value: f64 },
    /// A command, and the columns of its time, its point and its speed.
    Step { node: usize, columns: [usize; 3], step: Step },
}

/// A column, from 1 on, and what is wrong there.
type Mistake = (usize, String);

/// Reads along a line.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Passes over a word, if it is there.
    fn take(&mut self, word: &str) -> bool {
        self.space();
        let is_there = self.rest().starts_with(word);
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    fn expect(&mut self, word: &str) -> Result<(), Mistake> {
        if self.take(word) { Ok(()) } else { Err(self.wrong(&format!("expected {word}"))) }
    }

    /// The next word, which ends before one of `ends`, and its column.
    fn word(&mut self, ends: &[char]) -> (usize, &'a str) {
        self.space();
        let column = self.column();
        let rest = self.rest();
        let len = rest.find(|c: char| c.is_whitespace() || ends.contains(&c)).unwrap_or(rest.len());
        self.at += len;
        (column, &rest[..len])
    }

    fn number(&mut self, noun: &str, ends: &[char]) -> Result<(usize, f64), Mistake> {
        let (column, word) = self.word(ends);
        let number: Option<f64> =
            word.parse().ok().filter(|number: &f64| number.is_finite() && number.abs() <= FARTHEST);
        let number = number.ok_or_else(|| (column, format!("expected {noun}, a number, got {}", quote(word))))?;
        Ok((column, number))
    }

    fn time(&mut self, ends: &[char]) -> Result<(usize, SimTime), Mistake> {
        let (column, seconds) = self.number("a time in seconds", ends)?;
        if seconds < 0.0 {
            return Err((column, format!("{seconds} s is before the run begins")));
        }
        Ok((column, SimTime::from_ns(libm::round(seconds * 1e9) as u64)))
    }

    fn column(&self) -> usize {
        self.text[..self.at].chars().count() + 1
    }

    fn wrong(&mut self, expected: &str) -> Mistake {
        let (column, word) = self.word(&[]);
        (column, format!("{expected}, got {}", quote(word)))
    }

    fn end(&mut self) -> Result<(), Mistake> {
        self.space();
        if self.rest().is_empty() || self.rest().starts_with('#') {
            Ok(())
        } else {
            Err(self.wrong("expected the end of the line"))
        }
    }
}

/// No coordinate and no time is beyond it.
const FARTHEST: f64 = 1e9;

fn quote(word: &str) -> String {
    let short: String = word.chars().take(40).collect();
    if word.is_empty() { "the end of the line".to_owned() } else { format!("\"{}\"", short.escape_debug()) }
}

/// Reads a line. `names` are those of the nodes that follow the trace.
pub(super) fn line(format: Format, line: &[u8], names: &[String]) -> Result<Line, Mistake> {
    if line.len() >= super::LONGEST_LINE - 1 {
        return Err((1, format!("a line of {} bytes or more is none of a trace", super::LONGEST_LINE)));
    }
    let text = core::str::from_utf8(line).map_err(|error| (error.valid_up_to() + 1, "is no text".to_owned()))?;
    let mut cursor = Cursor { text, at: 0 };
    cursor.space();
    if cursor.rest().is_empty() || cursor.rest().starts_with('#') {
        return Ok(Line::Nothing);
    }
    match format {
        Format::Ns2 => ns2(&mut cursor, names),
        Format::Csv => csv(&mut cursor, names),
    }
}

/// `$node_(3)`: the number of the node.
fn node(cursor: &mut Cursor<'_>, names: &[String]) -> Result<usize, Mistake> {
    cursor.expect("$node_(")?;
    let (column, word) = cursor.word(&[')']);
    cursor.expect(")")?;
    let number: usize =
        word.parse().map_err(|_| (column, format!("expected a node's number, got {}", quote(word))))?;
    if number >= names.len() {
        let n = names.len();
        return Err((column, format!("no node {number}: {n} nodes of the scenario follow this trace, from 0 on")));
    }
    Ok(number)
}

fn ns2(cursor: &mut Cursor<'_>, names: &[String]) -> Result<Line, Mistake> {
    if cursor.rest().starts_with("$god_") {
        return Ok(Line::Nothing);
    }
    if !cursor.rest().starts_with("$ns_") {
        let node = node(cursor, names)?;
        cursor.expect("set")?;
        let axis = ["X_", "Y_", "Z_"].into_iter().position(|axis| cursor.take(axis));
        let axis = axis.ok_or_else(|| cursor.wrong("expected X_, Y_ or Z_"))?;
        let (_, value) = cursor.number("a coordinate in metres", &[])?;
        cursor.end()?;
        return Ok(Line::Place { node, axis, value });
    }
    cursor.expect("$ns_")?;
    cursor.expect("at")?;
    let (time, at) = cursor.time(&['"'])?;
    cursor.expect("\"")?;
    cursor.space();
    if cursor.rest().starts_with("$god_") {
        return Ok(Line::Nothing);
    }
    let node = node(cursor, names)?;
    cursor.expect("setdest")?;
    let (point, x) = cursor.number("a coordinate in metres", &[])?;
    let (_, y) = cursor.number("a coordinate in metres", &[])?;
    let (column, speed) = cursor.number("a speed in metres a second", &['"'])?;
    if speed > FASTEST {
        return Err((column, format!("{speed} m/s is too fast; {FASTEST} m/s is the most")));
    }
    cursor.expect("\"")?;
    cursor.end()?;
    Ok(Line::Step { node, columns: [time, point, column], step: Step { at, to: [x, y], speed } })
}

fn csv(cursor: &mut Cursor<'_>, names: &[String]) -> Result<Line, Mistake> {
    if cursor.rest().starts_with("time") {
        return Ok(Line::Nothing);
    }
    let (time, at) = cursor.time(&[','])?;
    cursor.expect(",")?;
    let (column, word) = cursor.word(&[',']);
    let by_number = || word.parse().ok().filter(|number| *number < names.len());
    let node = names.iter().position(|name| name == word).or_else(by_number).ok_or_else(|| {
        let n = names.len();
        (column, format!("no node {}: {n} nodes of the scenario follow this trace, from 0 on", quote(word)))
    })?;
    cursor.expect(",")?;
    let (point, x) = cursor.number("a coordinate in metres", &[','])?;
    cursor.expect(",")?;
    let (_, y) = cursor.number("a coordinate in metres", &[','])?;
    cursor.end()?;
    Ok(Line::Step { node, columns: [time, point, point], step: Step { at, to: [x, y], speed: 0.0 } })
}
