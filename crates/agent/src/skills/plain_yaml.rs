//! YAML whose values are all texts, as they are written: `1.10` and `yes` stay what they are.
//!
//! The nodes are made of the parser's events, before anything tells a text from a number. Anchors,
//! aliases, tags and merge keys are refused, which leaves nothing to expand; depth is bounded.

use granit_parser::{Event, Parser, StrInput};

use super::error::visible;

/// How deep lists and mappings may be in one another.
const MOST_DEPTH: usize = 16;

/// A value of the front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// A scalar as it is written; empty where nothing is.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping in its order, without duplicate keys. Each key has its line, from 1.
    Map(Vec<(String, usize, Node)>),
}

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct YamlError {
    /// What the reader says.
    pub(super) reason: String,
    /// The line of the text, from 1.
    pub(super) line: usize,
}

impl Node {
    /// Reads one YAML document. The caller bounds its size.
    pub(super) fn read(text: &str) -> Result<Self, YamlError> {
        let mut reader = Reader { events: Parser::new_from_str(text), line: 1, is_there: false };
        let mut event = reader.next()?;
        while matches!(event, Event::StreamStart | Event::DocumentStart(..)) {
            event = reader.next()?;
        }
        let node = reader.node(event, MOST_DEPTH)?;
        match (reader.next()?, reader.next()?) {
            (Event::DocumentEnd, Event::StreamEnd) => Ok(node),
            _ => Err(reader.refused("there is more than one document")),
        }
    }
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
    /// The line of the last event.
    line: usize,
    /// Whether the last event has any characters.
    is_there: bool,
}

impl<'t> Reader<'t> {
    fn refused(&self, reason: &str) -> YamlError {
        YamlError { reason: visible(reason), line: self.line }
    }

    fn next(&mut self) -> Result<Event<'t>, YamlError> {
        match self.events.next() {
            Some(Ok((event, span))) => {
                self.line = span.start.line();
                // The parser makes `~` of a value that is not there.
                self.is_there = !span.is_empty();
                Ok(event)
            }
            Some(Err(error)) => {
                self.line = error.marker().line();
                Err(self.refused(&error.info()))
            }
            None => Err(self.refused("the text ends too early")),
        }
    }

    /// The node that begins with an event, at a depth that is left.
    fn node(&mut self, event: Event<'t>, depth: usize) -> Result<Node, YamlError> {
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag)
            | Event::SequenceStart(_, anchor, tag)
            | Event::MappingStart(_, anchor, tag) => (*anchor, tag.is_some()),
            _ => return Err(self.refused("aliases are refused")),
        };
        if anchor != 0 || tag {
            return Err(self.refused("anchors and tags are refused"));
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.refused("it is nested too deeply"));
        };
        match event {
            Event::Scalar(text, ..) if self.is_there => Ok(Node::Text(text.into_owned())),
            Event::Scalar(..) => Ok(Node::Text(String::new())),
            Event::SequenceStart(..) => {
                let mut nodes = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => return Ok(Node::List(nodes)),
                        event => nodes.push(self.node(event, depth)?),
                    }
                }
            }
            _ => self.members(depth).map(Node::Map),
        }
    }

    fn members(&mut self, depth: usize) -> Result<Vec<(String, usize, Node)>, YamlError> {
        let mut members: Vec<(String, usize, Node)> = Vec::new();
        loop {
            let event = self.next()?;
            if event == Event::MappingEnd {
                return Ok(members);
            }
            let line = self.line;
            let Node::Text(name) = self.node(event, depth)? else {
                return Err(self.refused("the name of a field is no text"));
            };
            if name == "<<" {
                return Err(self.refused("merge keys are refused"));
            }
            if members.iter().any(|(other, ..)| *other == name) {
                return Err(self.refused(&format!("the field `{name}` is there twice")));
            }
            let event = self.next()?;
            members.push((name, line, self.node(event, depth)?));
        }
    }
}
