//! Changes of a network while it runs, as a line of text: `node.phone.position=[40, 0]`.

use units::NodeId;
use world::scenario::{Cut, EventKind, Scenario};

/// A change that somebody asked for, and the text that it was asked in.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// The change.
    pub what: EventKind,
    /// The text, which a recorded run keeps.
    pub text: String,
}

/// The reason why a text is no change of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SetError(String);

const FORMS: &str = "node.NAME.position=[x, y] in metres, node.NAME.dead=true, link.NAME.broken=true|false, between.A.B.broken=true|false";

impl Command {
    /// Reads a change. `text` has one of four forms: a node stands elsewhere or dies, a link of that name or all between two nodes breaks or
    /// heals.
    ///
    /// # Errors
    /// Another form, a name that the scenario does not have, a place that is none; a change that would change nothing.
    pub fn parse(text: &str, scenario: &Scenario) -> Result<Command, SetError> {
        let fail = |why: String| Err(SetError(why));
        let Some((path, value)) = text.split_once('=') else {
            return fail(format!("\"{text}\" has no \"=\"; there are {FORMS}"));
        };
        let (path, value) = (path.trim(), value.trim());
        let node = |name: &str| -> Result<NodeId, SetError> {
            let found = scenario.nodes.iter().position(|node| node.name == name);
            let names = || scenario.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>().join(", ");
            found
                .map(|at| NodeId(at as u32))
                .ok_or_else(|| SetError(format!("no node \"{name}\"; there are {}", names())))
        };
        let broken = |cut: Cut| match value {
            "true" => Ok(EventKind::Break(cut)),
            "false" => Ok(EventKind::Heal(cut)),
            _ => Err(SetError(format!("{path}: expected true or false, found \"{value}\""))),
        };
        let words: Vec<&str> = path.split('.').collect();
        let what = match words.as_slice() {
            ["node", name, "position"] => EventKind::Move(node(name)?, place(path, value)?),
            ["node", name, "dead"] if value == "true" => EventKind::Kill(node(name)?),
            ["node", _, "dead"] => return fail(format!("{path}: a node that is dead stays so; expected true")),
            ["link", name, "broken"] => broken(Cut::Link((*name).to_owned()))?,
            ["between", a, b, "broken"] => broken(Cut::Between(node(a)?, node(b)?))?,
            _ => return fail(format!("\"{path}\" cannot be changed while it runs; there are {FORMS}")),
        };
        scenario.check_change(&what).map_err(|why| SetError(format!("{path}: {why}")))?;
        Ok(Command { what, text: format!("{path}={value}") })
    }
}

/// `[x, y]` in metres.
fn place(path: &str, value: &str) -> Result<[f64; 2], SetError> {
    let inside = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let numbers =
        inside.map(|inside| inside.split(',').map(|number| number.trim().parse::<f64>().ok()).collect::<Vec<_>>());
    match numbers.as_deref() {
        Some([Some(x), Some(y)]) if x.abs() <= FAR && y.abs() <= FAR => Ok([*x, *y]),
        _ => Err(SetError(format!("{path}: expected a place such as [40, 0], in metres, found \"{value}\""))),
    }
}

/// Metres from the origin at most: beyond it a float no longer tells centimetres.
const FAR: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<EventKind, String> {
        parse_in("channel = { range = \"50 m\" }", text)
    }

    fn parse_in(channel: &str, text: &str) -> Result<EventKind, String> {
        let file = r#"
            scenario = { duration = "1 s" }
            radio = { standard = "802.11b" }
            [[node]]
            name = "a"
            [[node]]
            name = "b"
            role = "ap"
            [[node]]
            name = "c"
            [[link]]
            name = "backhaul"
            between = ["b", "c"]
            rate = "1 Mb/s"
            [[flow]]
            from = "a"
            to = "b"
        "#;
        let blueprint = world::parse(&format!("{channel}\n{file}"), &[]).expect("the scenario stands");
        Command::parse(text, blueprint.scenario()).map(|command| command.what).map_err(|error| error.to_string())
    }

    #[test]
    fn a_change_is_read_and_another_text_says_what_there_is() {
        let (a, b) = (NodeId(0), NodeId(1));
        assert_eq!(parse("node.b.position = [40, -2.5]"), Ok(EventKind::Move(b, [40.0, -2.5])));
        assert_eq!(parse("node.a.dead=true"), Ok(EventKind::Kill(a)));
        assert_eq!(parse("link.backhaul.broken=true"), Ok(EventKind::Break(Cut::Link("backhaul".to_owned()))));
        assert_eq!(parse("between.a.b.broken=false"), Ok(EventKind::Heal(Cut::Between(a, b))));
        for (text, word) in [
            ("node.b.position", "no \"=\""),
            ("node.d.position=[1, 1]", "there are a, b, c"),
            ("node.a.position=[1]", "such as [40, 0]"),
            ("node.a.position=[nan, 1]", "such as [40, 0]"),
            ("node.a.dead=false", "stays so"),
            ("link.wire.broken=true", "no link \"wire\""),
            ("between.a.a.broken=true", "twice"),
            ("between.a.c.broken=true", "no link joins"),
            ("node.c.position=[1, 1]", "has no radio"),
            ("link.backhaul.broken=1", "true or false"),
            ("radio.standard=802.11g", "cannot be changed"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
        }
        // Nobody would hear anybody less.
        let error = parse_in("", "node.b.position=[1, 1]").expect_err("everybody hears everybody");
        assert!(error.contains("of no consequence"), "{error}");
    }
}
