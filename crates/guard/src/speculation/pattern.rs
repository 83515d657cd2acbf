use std::collections::HashMap;

use serde_json::{Map, Value};

/// The maximum number of tools that are tracked, and of patterns for each.
const MOST_TOOLS: usize = 64;
const MOST_WAYS: usize = 32;
/// How often a pattern must have been seen, and the minimum share of all successors, as a divisor.
const OFTEN: u32 = 2;
const PART: u32 = 2;
/// The minimum length of a text that is taken from the call before. A shorter one may be equal by
/// chance.
const SHORTEST: usize = 3;

/// How the calls of a session follow each other: which tool's call comes after a call of which
/// tool, with arguments that are constant or taken from the call before.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    last: Option<(String, Value)>,
    after: HashMap<String, Vec<Pattern>>,
}

/// A pattern in which one call followed another.
#[derive(Debug)]
struct Pattern {
    tool: String,
    arguments: Map<String, Value>,
    /// Arguments taken from the call before: the name here and the name there.
    taken: Vec<(String, String)>,
    seen: u32,
}

impl Patterns {
    /// Records a call.
    pub(super) fn saw(&mut self, tool: &str, arguments: &Value) {
        let this = (tool.to_owned(), arguments.clone());
        let Some((before, earlier)) = self.last.replace(this) else { return };
        let Some(way) = Pattern::between(&earlier, tool, arguments) else { return };
        if !self.after.contains_key(&before) && self.after.len() >= MOST_TOOLS {
            return;
        }
        let ways = self.after.entry(before).or_default();
        match ways.iter_mut().find(|known| known.is_like(&way)) {
            Some(known) => known.seen += 1,
            None => {
                if ways.len() >= MOST_WAYS {
                    // The rarest pattern is dropped.
                    ways.sort_by_key(|way| std::cmp::Reverse(way.seen));
                    ways.pop();
                }
                ways.push(way);
            }
        }
    }

    /// The call that usually follows such a call.
    pub(super) fn next(&self, tool: &str, arguments: &Value) -> Option<(String, Value)> {
        let ways = self.after.get(tool)?;
        let all: u32 = ways.iter().map(|way| way.seen).sum();
        let likely = ways.iter().max_by_key(|way| way.seen)?;
        if likely.seen < OFTEN || likely.seen * PART < all {
            return None;
        }
        Some((likely.tool.clone(), likely.filled(arguments)?))
    }
}

impl Pattern {
    fn between(before: &Value, tool: &str, arguments: &Value) -> Option<Self> {
        let mut way =
            Self { tool: tool.to_owned(), arguments: Map::new(), taken: Vec::new(), seen: 1 };
        let earlier = before.as_object()?;
        for (name, value) in arguments.as_object()? {
            let long = value.as_str().is_some_and(|text| text.len() >= SHORTEST);
            let from = earlier.iter().find(|(_, known)| long && *known == value);
            match from {
                Some((from, _)) => way.taken.push((name.clone(), from.clone())),
                None => {
                    way.arguments.insert(name.clone(), value.clone());
                }
            }
        }
        Some(way)
    }

    fn is_like(&self, other: &Self) -> bool {
        self.tool == other.tool && self.arguments == other.arguments && self.taken == other.taken
    }

    fn filled(&self, before: &Value) -> Option<Value> {
        let mut arguments = self.arguments.clone();
        for (name, from) in &self.taken {
            arguments.insert(name.clone(), before.get(from)?.clone());
        }
        Some(Value::Object(arguments))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_followed_twice_follows_again() {
        let edit = |path: &str| ("edit", json!({ "path": path, "new": "text" }));
        let read = |path: &str| ("read", json!({ "path": path }));
        let list = || ("list", json!({ "path": "." }));
        for (calls, last, expected) in [
            (vec![edit("a.rs"), read("a.rs")], edit("b.rs"), None),
            (
                vec![edit("a.rs"), read("a.rs"), edit("b.rs"), read("b.rs")],
                edit("c.rs"),
                Some(read("c.rs")),
            ),
            // A different file each time is no pattern.
            (vec![edit("a.rs"), read("x.rs"), edit("b.rs"), read("y.rs")], edit("c.rs"), None),
            (vec![edit("a"), list(), edit("b"), list()], edit("c"), Some(list())),
            // It follows only now and then.
            (
                vec![
                    edit("a.rs"),
                    read("a.rs"),
                    edit("b.rs"),
                    read("b.rs"),
                    edit("c.rs"),
                    list(),
                    edit("d.rs"),
                    edit("e.rs"),
                    edit("f.rs"),
                    edit("g.rs"),
                ],
                edit("h.rs"),
                None,
            ),
        ] {
            let mut patterns = Patterns::default();
            for (tool, arguments) in &calls {
                patterns.saw(tool, arguments);
            }
            let (tool, arguments) = last;
            patterns.saw(tool, &arguments);
            let next = patterns.next(tool, &arguments);
            let expected = expected.map(|(tool, arguments)| (tool.to_owned(), arguments));
            assert_eq!(next, expected, "{calls:?}");
        }
    }
}
