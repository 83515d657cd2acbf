mod without_id;

use std::collections::BTreeSet;

use counterfoil_model::{Claim, ClaimKind, ExecutionId, Object, ObjectKind, Span, Status};
use serde_json::Value;

use super::compare::{difference, different_number, foreign_numbers, spaced};
use super::fault::{Citation, Fault};
use super::fences::Setting;
use super::known::{Known, Register};
use super::mention::Mention;
use super::presented::is_blank;
use super::printed::given;
use super::stated::{Cited, Stated, cited};
use super::title::{is_part, only_speaks_of};
use crate::action::is_start;
use crate::facts::{Answer, Facts};
use crate::prose::{Clause, Mood, Prose, Tags, Token, TokenKind, sets, unasserted};
use crate::tool_use::same;

/// All citations of the transcript, by message and position.
pub(super) fn citations<'f>(facts: &'f Facts<'_>) -> &'f [Citation] {
    facts.judged().citations.get_or_init(|| judged(facts))
}

fn judged(facts: &Facts<'_>) -> Vec<Citation> {
    let answers: Vec<(&Answer<'_>, Cited)> = facts
        .answers()
        .iter()
        .map(|answer| (answer, cited(answer.prose.text)))
        .filter(|(_, cited)| !cited.objects.is_empty() || !cited.ids.is_empty())
        .collect();
    if answers.is_empty() {
        return Vec::new();
    }
    let mut register = Register::new(facts);
    for (answer, cited) in &answers {
        register.learn(answer.turn, cited.ids.iter().map(|mention| mention.id.as_str()));
    }
    let bench = Bench { register, facts };
    let mut found = Vec::new();
    for (answer, cited) in &answers {
        bench.message(answer, cited, &mut found);
    }
    found
}

struct Bench<'f, 't> {
    register: Register<'f>,
    facts: &'f Facts<'t>,
}

impl Bench<'_, '_> {
    /// Judges everything that one answer cites.
    fn message(&self, answer: &Answer<'_>, cited: &Cited, found: &mut Vec<Citation>) {
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for stated in &cited.objects {
            found.extend(match stated.in_words {
                _ if stated.titled => self.titled(answer, stated),
                true => self.altered_list(answer.prose.text, stated, answer.turn),
                false => {
                    let first = stated.id.as_deref().is_some_and(|id| done.insert(id));
                    self.object(answer, cited, stated, first)
                }
            });
        }
        for mention in &cited.ids {
            if done.insert(&mention.id) {
                found.extend(self.id(answer, mention));
            }
        }
    }

    /// Judges an object that cites an execution, or lacks its id. `first` says that no earlier
    /// object cites the same one.
    fn object(
        &self,
        answer: &Answer<'_>,
        cited: &Cited,
        stated: &Stated,
        first: bool,
    ) -> Option<Citation> {
        let turn = answer.turn;
        let mut faults = Vec::new();
        let mut evidence = Vec::new();
        if let Some(id) = &stated.id {
            if let Some(known) = self.register.get(id, turn) {
                evidence.push(known.evidence(""));
                self.verify(answer, known, Some(stated), &mut faults);
            } else if self.is_unknown(stated.setting, id, true, turn) {
                if first {
                    faults.push(self.unknown(id, turn));
                }
                let bare = stated.tool.is_none() && !stated.rest.is_empty();
                if bare && stated.setting != Setting::Code {
                    faults.push(Fault::MissingTool { id: id.clone() });
                }
            } else {
                // Whatever system the id belongs to: no call returned it.
                self.missing_id(stated, cited, turn)?;
                faults.push(self.unknown(id, turn));
            }
        } else {
            faults.push(self.missing_id(stated, cited, turn)?);
        }
        let (id, tool) = (stated.id.as_deref(), stated.tool.as_deref());
        let claim = claim(answer.prose.text, stated.span, id, tool, turn);
        Some(Citation { claim, faults, evidence })
    }

    /// Judges an id that is cited outside an object.
    fn id(&self, answer: &Answer<'_>, mention: &Mention) -> Option<Citation> {
        let (text, turn) = (answer.prose.text, answer.turn);
        if is_example(&answer.prose, mention.span) {
            return None;
        }
        let mut faults = Vec::new();
        let mut evidence = Vec::new();
        if let Some(known) = self.register.get(&mention.id, turn) {
            evidence.push(known.evidence(""));
            self.verify(answer, known, None, &mut faults);
            let mut places = text.match_indices(&mention.id);
            let other = |(at, _)| self.other_tool(&answer.prose, mention, at, known);
            faults.extend(places.find_map(other));
        } else if self.is_unknown(mention.setting, &mention.id, mention.labelled, turn)
            || self.is_borrowed(answer, mention)
        {
            faults.push(self.unknown(&mention.id, turn));
        } else {
            return None;
        }
        let claim = claim(text, mention.span, Some(&mention.id), None, turn);
        Some(Citation { claim, faults, evidence })
    }

    /// A list below an id with a number that differs from the result, or only numbers it does not have.
    fn altered_list(&self, text: &str, stated: &Stated, turn: usize) -> Option<Citation> {
        let known = self.register.get(stated.id.as_deref()?, turn)?;
        let recorded = known.result.as_deref()?;
        let found = different_number(&stated.rest, recorded)
            .or_else(|| foreign_numbers(&stated.rest, recorded))?;
        let claim = claim(text, stated.span, stated.id.as_deref(), None, turn);
        let (faults, evidence) = (vec![Fault::Altered(found)], vec![known.evidence("")]);
        Some(Citation { claim, faults, evidence })
    }

    /// Whether an id of no known execution was made up, rather than quoted, drafted, or something
    /// else that merely looks like an id.
    fn is_unknown(&self, setting: Setting, id: &str, labelled: bool, turn: usize) -> bool {
        if setting == Setting::Code || setting == Setting::Fence && self.is_sample(id, turn) {
            return false;
        }
        let ours = self.could_cite(turn);
        // The agent could cite its own executions: what the user wrote is none of them.
        let is_mentioned = self.register.is_mentioned(id, turn) && !(labelled && ours);
        if self.register.is_seen(id, turn) || is_mentioned {
            return false;
        }
        let Some(parsed) = ExecutionId::parse(id) else {
            return labelled && ours && setting == Setting::Plain && !self.was_given(id, turn);
        };
        if labelled && self.register.has_tool(parsed.tool) {
            return true;
        }
        if !labelled {
            // A file name or a key may look like an id; a real id begins with the exact name of a
            // tool.
            return self.register.has_exactly(parsed.tool) && !self.register.is_drafted(id, turn);
        }
        !self.register.is_drafted(id, turn)
    }

    /// Whether an id in a block is one that the agent wrote into a file, or one of a sample that the
    /// user asked for.
    fn is_sample(&self, id: &str, turn: usize) -> bool {
        self.register.is_filed(id, turn) || self.sample_was_requested(turn)
    }

    /// Whether the agent had ids to cite. Other systems also have execution ids; only then is an id
    /// one of ours.
    fn could_cite(&self, turn: usize) -> bool {
        self.facts.transcript().receipts.is_some() || self.register.shows_ids(turn)
    }

    /// Whether an id that is no execution's, but that a text mentions or the agent had printed, comes
    /// with a number that the agent was never given.
    fn is_borrowed(&self, answer: &Answer<'_>, mention: &Mention) -> bool {
        let (prose, turn) = (&answer.prose, answer.turn);
        if !mention.labelled || mention.setting != Setting::Plain || !self.could_cite(turn) {
            return false;
        }
        let holds = |clause: &&Clause| clause.span.overlaps(mention.span);
        let clause = prose.clauses.iter().find(holds);
        let sentence = clause.and_then(|clause| prose.sentences.get(clause.sentence));
        sentence.is_some_and(|sentence| {
            prose.tokens(sentence.tokens.clone()).iter().any(|token| {
                token.kind == TokenKind::Number
                    && !token.span().overlaps(mention.span)
                    && !self.was_given(token.span().slice(prose.text), turn)
            })
        })
    }

    /// Whether a text occurs in something that the agent was given.
    fn was_given(&self, word: &str, turn: usize) -> bool {
        given(self.facts, turn).any(|text| text.contains(word))
    }

    fn unknown(&self, id: &str, turn: usize) -> Fault {
        let transcript = self.facts.transcript();
        let provable = transcript.receipts.is_some() || self.facts.is_complete_before(turn);
        Fault::Unknown { id: id.to_owned(), provable }
    }

    fn verify(
        &self,
        answer: &Answer<'_>,
        known: &Known<'_>,
        stated: Option<&Stated>,
        faults: &mut Vec<Fault>,
    ) {
        if let Some(tool) = stated.and_then(|s| s.tool.as_deref()) {
            let meant = known.tools.iter().any(|recorded| same(recorded, tool));
            if let (false, Some(recorded)) = (meant, known.tools.first()) {
                faults.push(Fault::OtherTool {
                    stated: tool.to_owned(),
                    recorded: recorded.clone().into_owned(),
                });
            }
        } else if stated.is_some()
            && known.tools.is_empty()
            && ExecutionId::parse(&known.id).is_none()
        {
            faults.push(Fault::MissingTool { id: known.id.clone() });
        }
        let window = self.facts.settings().execution_window_secs;
        let now = self.facts.transcript().messages.get(answer.turn).and_then(|m| m.time);
        if let (true, Some(now), Some(started)) = (window > 0, now, known.started) {
            let age = u64::try_from(now.saturating_sub(started) / 1000).unwrap_or(0);
            if age > window {
                faults.push(Fault::Expired { age, window });
            }
        }
        let is_disclosed = discloses(answer.prose.text, stated)
            || (known.status == Status::Open && stated.is_none() && only_begins(&answer.prose));
        if !known.status.succeeded() && !is_disclosed {
            faults.push(Fault::Unfinished { status: known.status });
        }
        let compared = stated.filter(|s| s.setting != Setting::Code && !s.rest.is_empty());
        if let (Some(stated), Some(recorded)) = (compared, known.result.as_deref()) {
            faults.extend(difference(&stated.rest, recorded).map(Fault::Altered));
        }
    }

    /// "The `ping` tool returned (execution_id: …)", about an execution of another tool.
    /// The id is at byte `at`.
    fn other_tool(
        &self,
        prose: &Prose<'_>,
        mention: &Mention,
        at: usize,
        known: &Known<'_>,
    ) -> Option<Fault> {
        if mention.setting == Setting::Code {
            return None;
        }
        let start = prose.text.get(..at)?.rfind('\n').map_or(0, |at| at + 1);
        let row = prose.text.get(start..)?.lines().next()?;
        let line = prose.text.get(start..at)?;
        let recorded = known.tools.first()?;
        let stated = match line.trim_start().starts_with(['|', '-', '*', '•']) {
            true => self.named_in_row(prose, start, row),
            false if is_by_means(prose, start, line) => self.named_in_row(prose, start, row),
            false => self
                .named_before(line)
                .or_else(|| self.described_before(line, recorded))
                .filter(|_| mention.labelled),
        }?;
        let other = !known.tools.iter().any(|tool| same(tool, stated));
        other.then(|| Fault::OtherTool {
            stated: stated.to_owned(),
            recorded: recorded.clone().into_owned(),
        })
    }

    /// The tool that a line names before an id, if nothing but plain words separate them, or if the
    /// sentence begins with the tool.
    fn named_before(&self, line: &str) -> Option<&str> {
        let named = self.register.named_in(line);
        let (at, stated) = *named.last()?;
        let (before, after) = (line.get(..at)?, line.get(at + stated.len()..)?);
        let before = before.rsplit(". ").next().unwrap_or(before);
        let leads = only_speaks_of(before, "") && named.len() == 1 && !after.contains(". ");
        (leads || only_speaks_of(after, "")).then_some(stated)
    }

    /// "The speed test (execution_id: …)": the only tool that the words before an id consist of.
    fn described_before(&self, line: &str, recorded: &str) -> Option<&str> {
        /// One word may describe another tool as well.
        const FEW: usize = 2;
        let line = line.rsplit(". ").next().unwrap_or(line).to_ascii_lowercase();
        let words = || line.split(|c: char| !c.is_alphanumeric());
        let parts = |tool: &str| words().filter(|word| is_part(word, tool)).count();
        let recorded = parts(&recorded.to_ascii_lowercase());
        let mut described = self.register.tools().filter(|tool| {
            let name = tool.to_ascii_lowercase();
            parts(&name) >= FEW && only_speaks_of(&line, &name)
        });
        let first = described.next()?;
        (recorded == 0 && described.next().is_none()).then_some(first)
    }

    /// The only tool that a list item or the row of a table names, if it denies and doubts nothing.
    fn named_in_row(&self, prose: &Prose<'_>, start: usize, row: &str) -> Option<&str> {
        let [(_, stated)] = self.register.named_in(row)[..] else { return None };
        let spelled = stated.contains(['_', '-']) || stated.chars().skip(1).any(char::is_uppercase);
        let span = Span::new(start, start + row.len());
        let open = Tags::NEGATION.or(Tags::MODAL).or(Tags::HEDGE).or(Tags::INTEND);
        let open = |t: &Token| span.contains(t.span()) && t.has(open);
        (spelled && !prose.tokens.iter().any(open)).then_some(stated)
    }
}

/// "Using run_speed_test, I measured 125 Mbps (": whether a line that leads to an id begins with the
/// tool that was used for the only thing it tells.
fn is_by_means(prose: &Prose<'_>, start: usize, line: &str) -> bool {
    let led = line.split_once([' ', '`']).filter(|(first, _)| {
        ["using", "with", "via", "through"].contains(&first.to_ascii_lowercase().as_str())
    });
    let statement = led.and_then(|_| line.split_once(", ")).map_or("", |(_, statement)| statement);
    let span = Span::new(start + line.len() - statement.len(), start + line.len());
    let joins = tags![COORDINATE, SUBORDINATE];
    let mut within = prose.tokens.iter().filter(|t| span.contains(t.span()));
    within.clone().any(|t| t.has(Tags::AGENT))
        && !within.any(|t| t.has(joins) || t.is(',') || t.is(';'))
}

/// "An id looks like ping_…", "for example (execution_id: ping_…)", "what is ping_…?", "no execution
/// has the id ping_…": whether the sentence cites no execution with this id.
fn is_example(prose: &Prose<'_>, id: Span) -> bool {
    let holds = |clause: &&Clause| clause.span.overlaps(id);
    let Some(clause) = prose.clauses.iter().find(holds) else { return false };
    let tokens = prose.sentence_of(clause);
    let before = tokens.iter().take_while(|t| t.span().end <= id.start);
    let words: Vec<&Token> = before.filter(|t| t.kind == TokenKind::Word).collect();
    // `GET /executions?id=ping_…`: code that contains an id.
    let is_code = |t: &Token| {
        let own = t.span().slice(prose.text).trim_matches('`');
        let rest = own.replacen(id.slice(prose.text), "", 1).to_ascii_lowercase();
        let label = rest.trim_matches(|c: char| !c.is_alphanumeric());
        t.kind == TokenKind::Code
            && t.span().contains(id)
            && !label.is_empty()
            && !label.starts_with("execution")
    };
    // "for example, the tool returned (execution_id: ping_…)" gives no example of an id.
    let sample = words!["example", "examples", "e.g", "format", "instance"];
    let after = words.iter().rev().take_while(|t| !prose.is(t, sample));
    let verbs = after.filter(|t| t.has(Tags::COMPLETED)).count();
    let is_sample = |t: &Token| prose.is(t, sample);
    let sampled =
        tokens.iter().any(is_sample) && (verbs == 0 || !words.iter().any(|t| is_sample(t)));
    let compared = match words.as_slice() {
        [.., such, last] if prose.is_word(last, "as") => prose.is_word(such, "such"),
        [.., last] => prose.is_word(last, "like"),
        [] => false,
    };
    compared
        || clause.mood == Mood::Question
        || sampled
        || tokens.iter().any(|t| t.has(Tags::NEGATION) || is_code(t))
}

/// Whether the words around a citation, or the object itself, say that the execution failed.
fn discloses(text: &str, stated: Option<&Stated>) -> bool {
    let presented = match stated {
        Some(stated) if !stated.rest.is_empty() => {
            let failed = |key: &str| match stated.rest.get(key) {
                Some(Value::Bool(success)) => !success,
                Some(code) => code.as_i64().is_some_and(|code| code != 0),
                None => false,
            };
            if failed("success") || failed("exit_code") {
                return true;
            }
            // The object itself is what is presented; prose next to it does not change that.
            let members = stated.rest.iter().filter(|(_, value)| !is_blank(value));
            Value::Object(members.map(|(k, v)| (k.clone(), v.clone())).collect()).to_string()
        }
        _ => spaced(text),
    };
    let presented = presented.to_lowercase();
    sets::NOT_DONE.list.iter().any(|word| presented.contains(word))
}

/// "I started the server": whether a text says that something was started, and of nothing that it
/// is done.
fn only_begins(prose: &Prose<'_>) -> bool {
    let asserted_clauses =
        || prose.clauses.iter().filter(|clause| unasserted(prose, clause).is_none());
    let starts = |clause: &Clause| {
        clause.predicates.iter().any(|predicate| !predicate.negated && is_start(prose, predicate))
    };
    let ends = |clause: &Clause| {
        prose.tokens(clause.tokens.clone()).iter().any(|t| prose.is(t, &sets::FINISHED))
    };
    asserted_clauses().any(starts) && !asserted_clauses().any(ends)
}

fn claim(text: &str, span: Span, id: Option<&str>, tool: Option<&str>, turn: usize) -> Claim {
    let object = |kind, text: &str| Object { kind, text: text.to_owned() };
    Claim {
        kind: ClaimKind::Execution,
        text: span.slice(text).to_owned(),
        objects: id
            .map(|id| object(ObjectKind::Id, id))
            .into_iter()
            .chain(tool.map(|tool| object(ObjectKind::Tool, tool)))
            .collect(),
        span,
        turn,
    }
}
