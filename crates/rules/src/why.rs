//! Shows how the agent's answers were read, clause by clause, to explain a missing or surprising
//! finding.

use counterfoil_model::{ActReading, ClauseReading, NamedReading};

use crate::action::{Read, objects_in, reported_acts};
use crate::facts::{Answer, Facts};
use crate::prose::{Clause, unasserted, unmarked};

/// All clauses of the agent's answers, in order.
pub(crate) fn readings(facts: &Facts<'_>) -> Vec<ClauseReading> {
    let mut readings = Vec::new();
    for answer in facts.answers() {
        let clauses = answer.prose.clauses.iter().zip(reported_acts(&answer.prose));
        readings.extend(clauses.filter_map(|(clause, acts)| reading(facts, answer, clause, acts)));
    }
    readings
}

/// How a clause was read; `None` if it contains no words.
fn reading(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
    acts: Vec<Read>,
) -> Option<ClauseReading> {
    let (prose, turn) = (&answer.prose, answer.turn);
    let span = unmarked(prose.text, clause.span);
    let text = span.slice(prose.text);
    if !text.contains(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let objects = objects_in(prose, clause.tokens.clone());
    let named = objects.into_iter().map(|object| NamedReading {
        found: facts.source_of(&object.text, turn, true).map(|text| facts.evidence_in(text)),
        object,
    });
    let acts =
        acts.into_iter().map(|(verb, act)| ActReading { verb, family: act.ok(), left: act.err() });
    Some(ClauseReading {
        turn,
        span,
        text: text.to_owned(),
        left: unasserted(prose, clause),
        acts: acts.collect(),
        named: named.collect(),
    })
}

#[cfg(test)]
mod tests {
    use counterfoil_model::{Format, Message, Role, Transcript};

    use crate::action::reasons;
    use crate::check::Indexed;
    use crate::prose::UNASSERTED;
    use crate::settings::Settings;

    const PAGE: &str = include_str!("../../../spec/why.md");

    fn rows() -> Vec<[&'static str; 3]> {
        let (_, cases) = PAGE.split_once("|---|---|---|\n").expect("the page has cases");
        let cells = |line: &'static str| {
            let line = line.strip_prefix("| ")?.strip_suffix(" |")?;
            line.split(" | ").collect::<Vec<_>>().try_into().ok()
        };
        cases.lines().filter_map(cells).collect()
    }

    fn read(text: &str, words: &str) -> String {
        // A table cell on the page cannot contain either.
        let text = text.replace("\\n", "\n").replace("&#124;", "|");
        let mut transcript = Transcript::new("case", Format::Fk);
        transcript.messages =
            vec![Message::text(Role::User, "Go."), Message::text(Role::Assistant, text)];
        let settings = Settings::default();
        let readings = Indexed::new(&transcript).readings(&settings);
        let found = readings.iter().find(|reading| reading.text.contains(words));
        let Some(reading) = found else { return "no such clause".to_owned() };
        let verb = reading.acts.iter().map(|act| match act.family {
            Some(family) => family.name(),
            None => act.left.unwrap_or_default(),
        });
        let mut parts = vec![reading.left.unwrap_or("asserted")];
        parts.extend(verb);
        parts.join("; ")
    }

    #[test]
    fn clauses_are_read_as_the_page_says() {
        let wrong = rows().into_iter().filter_map(|[text, words, expected]| {
            let read = read(text, words);
            (read != expected).then(|| format!("{text}: expected {expected}, is {read}"))
        });
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_reason_has_a_case() {
        let covered: Vec<&str> =
            rows().into_iter().flat_map(|[.., read]| read.split("; ")).collect();
        let all = UNASSERTED.iter().map(|(reason, _)| *reason).chain(reasons());
        let without: Vec<&str> = all.filter(|reason| !covered.contains(reason)).collect();
        assert!(without.is_empty(), "without a case: {without:?}");
    }
}
