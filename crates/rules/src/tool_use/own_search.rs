//! Look-ups that the agent says it made, and names no tool for.

use counterfoil_model::Family;

use super::mention::Thing;
use crate::prose::{Action, Clause, Prose, Subject, Tags, Token, TokenKind, Voice, Words};

/// A look-up of the agent's own without a source: "I searched the web", "based on my search".
pub(super) fn own_search(prose: &Prose<'_>, clause: &Clause) -> Option<Thing> {
    let searching = |word: &str| {
        let stems = ["search", "googl", "queri", "brows", "scann", "research", "consult", "look"];
        stems.iter().any(|stem| word.starts_with(stem))
    };
    let lower = |t: &Token| prose.word(t).to_ascii_lowercase();
    let is_search =
        |t: &Token| prose.is(t, words!["search", "searches", "lookup", "look-up", "query"]);
    let sought = prose.tokens(clause.tokens.clone()).iter().any(is_search);
    // "a quick web search confirms": the search as a source.
    let source = || search_as_source(prose, clause, &is_search);
    if let Some(at) = sought.then(source).flatten() {
        let noun = "search".to_owned();
        let place = at.checked_sub(1).and_then(|i| prose.tokens.get(i)).filter(|t| {
            let places = ["web", "internet", "online", "google", "news", "literature"];
            t.has(Tags::SYSTEM_NOUN) || places.contains(&lower(t).as_str())
        });
        let topic = place.map(lower).into_iter().collect();
        return Some(Thing { name: None, topic, noun, tokens: at..at + 1 });
    }
    let act = clause.predicates.iter().find(|p| {
        let verb = || prose.tokens.get(p.verb).map(lower).unwrap_or_default();
        // "looked at your message": nothing was looked up.
        let at = || {
            prose.tokens(p.object_tokens.clone()).first().is_some_and(|t| prose.is(t, words!["at"]))
        };
        let searched = p.action == Action::Of(Family::Search)
            && searching(&verb())
            && !(verb() == "looked" && at());
        let agent = p.subject == Subject::Agent && p.voice == Voice::Active;
        let object = prose.tokens(p.object_tokens.clone());
        let ran = p.action == Action::Of(Family::Run) && object.iter().take(4).any(is_search);
        let looked = matches!(p.action, Action::Of(Family::Search | Family::Read))
            && (reads_records(object) || finds_sources(prose, object));
        (searched || ran || looked) && agent && !p.negated && !object.is_empty()
    });
    if let Some(thing) = examined(prose, clause).or_else(|| place(prose, clause)) {
        return Some(thing);
    }
    let noun = || {
        let mut words = clause.tokens.clone();
        words.find(|&at| {
            let owned = at.checked_sub(1).and_then(|i| prose.tokens.get(i));
            owned.is_some_and(|t| t.has(Tags::AGENT_OWN))
                && prose.tokens.get(at).is_some_and(|t| {
                    matches!(
                        lower(t).as_str(),
                        "search" | "searches" | "research" | "lookup" | "query"
                    )
                })
                && (leads_to_finding(prose, clause, at)
                    || prose.tokens(clause.tokens.start..at).iter().any(|t| {
                        matches!(lower(t).as_str(), "based" | "according" | "per" | "from")
                    }))
        })
    };
    // "The search results indicate"
    let results = || {
        let mut words = clause.tokens.clone();
        words.find(|&at| {
            prose.tokens.get(at).is_some_and(is_search)
                && prose.tokens.get(at + 1).is_some_and(|t| prose.is(t, words!["results"]))
                && leads_to_finding(prose, clause, at + 1)
        })
    };
    let named = || results().filter(|_| sought);
    let at = act.map(|p| p.verb).or_else(noun).or_else(named)?;
    let noun = "search".to_owned();
    // "I searched the web for it": not in a file.
    let web = act.is_some_and(|p| {
        let mut place = prose.tokens(p.object_tokens.clone()).iter().take(3);
        place.any(|t| prose.is(t, words!["web", "internet", "online"]))
    });
    let topic = if web { WEB.map(str::to_owned).to_vec() } else { Vec::new() };
    Some(Thing { name: None, topic, noun, tokens: at..at + 1 })
}

/// What tools that go to the web are called.
const WEB: [&str; 12] = [
    "web", "search", "fetch", "browse", "browser", "internet", "url", "http", "page", "google",
    "scrape", "crawl",
];

/// "My search turned up", "the search results show": nothing before it, a finding behind it.
fn leads_to_finding(prose: &Prose<'_>, clause: &Clause, at: usize) -> bool {
    let before = prose.tokens(clause.tokens.start..at);
    let small = Tags::DETERMINER.or(Tags::AGENT_OWN).or(Tags::ADVERB).or(Tags::COORDINATE);
    let found = words!["turned", "returned", "revealed", "found", "yielded", "brought", "surfaced"];
    before.iter().all(|t| {
        t.has(small) || t.tags.is_empty() || prose.is(t, words!["search", "query", "lookup"])
    }) && prose
        .tokens
        .get(at + 1)
        .filter(|_| at + 1 < clause.tokens.end)
        .is_some_and(|t| t.has(Tags::PERCEIVE) || prose.is(t, found))
}

/// "several analyst reports", "three studies": sources that nobody has named before.
fn finds_sources(prose: &Prose<'_>, object: &[Token]) -> bool {
    let sources = words![
        "reports",
        "articles",
        "studies",
        "sources",
        "papers",
        "publications",
        "posts",
        "listings",
        "reviews",
    ];
    let given = Tags::USER_OWN.or(Tags::THING).or(Tags::USER);
    let phrase = || object.iter().take(6).take_while(|t| !t.has(Tags::PREPOSITION));
    let definite = phrase().any(|t| t.has(given) || prose.is(t, words!["the", "no"]));
    !definite && phrase().any(|t| !t.quoted && prose.is(t, sources))
}

/// "I ran a fraud check", "I reviewed your loyalty points": what was looked into, in the words for
/// it.
fn examined(prose: &Prose<'_>, clause: &Clause) -> Option<Thing> {
    clause.predicates.iter().find_map(|p| {
        let own = p.subject == Subject::Agent && p.voice == Voice::Active && !p.negated;
        let ran = p.action == Action::Of(Family::Run);
        let read = matches!(p.action, Action::Of(Family::Search | Family::Read));
        if !own || !(ran || read) {
            return None;
        }
        let object = prose.tokens(p.object_tokens.clone());
        // "pulled up your history"
        let skipped =
            usize::from(object.first().is_some_and(|t| prose.is(t, words!["up", "over"])));
        let mut phrase = object.iter().skip(skipped);
        let owner = if ran { Tags::DETERMINER } else { Tags::USER_OWN };
        phrase.next().filter(|t| t.has(owner))?;
        let nouns = phrase.skip_while(|t| t.has(Tags::ADVERB)).take(4).take_while(|t| {
            t.kind == TokenKind::Word && !t.quoted && (t.tags.is_empty() || t.has(Tags::BASE))
        });
        let mut topic: Vec<String> = nouns.map(|t| prose.word(t).to_ascii_lowercase()).collect();
        if ran {
            let last = topic.pop()?;
            let checks = ["check", "scan", "report", "diagnostic", "inspection", "audit"];
            if !checks.contains(&last.as_str()) {
                return None;
            }
        }
        // What the user wrote is at hand.
        let given = ["question", "message", "request", "description", "text", "answer", "note"];
        if topic.iter().any(|word| given.contains(&word.as_str())) {
            return None;
        }
        let noun = if ran { "check" } else { "record" }.to_owned();
        (!topic.is_empty()).then(|| Thing { name: None, topic, noun, tokens: p.verb..p.verb + 1 })
    })
}

/// "I looked at the duty roster", "compared it with the company's holiday planner": a place where
/// things are written down, and which one.
fn place(prose: &Prose<'_>, clause: &Clause) -> Option<Thing> {
    const LOOKED: &Words = words![
        "went",
        "looked",
        "look",
        "compared",
        "checked",
        "consulted",
        "reviewed",
        "cross-checked",
        "searched",
        "examined",
        "inspected",
        "glanced",
    ];
    const KEPT: &Words = words![
        "planner", "roster", "register", "registry", "handbook", "manual", "reports", "archive",
        "forum", "bulletin", "waitlist",
    ];
    const VAGUE: &Words = words![
        "own",
        "internal",
        "current",
        "latest",
        "existing",
        "recent",
        "available",
        "relevant",
        "whole",
        "entire",
        "full",
        "user",
        "test",
        "error",
    ];
    let tokens = prose.tokens(clause.tokens.clone());
    let doubt = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::USER_OWN);
    let definite = Tags::DETERMINER.or(Tags::AGENT_OWN);
    if clause.tags.any(doubt) || !clause.tags.any(Tags::AGENT) || !clause.tags.any(definite) {
        return None;
    }
    let looked = tokens.iter().position(|t| !t.quoted && prose.is(t, LOOKED))?;
    let word = |at: usize, known: &Words| tokens.get(at).is_some_and(|t| prose.is(t, known));
    let kept = |at: usize| {
        word(at, KEPT)
            || (word(at, words!["list"]) && word(at - 1, words!["waiting", "watch", "wait"]))
    };
    let at = (looked + 2..tokens.len()).find(|&at| kept(at))?;
    let which = tokens.get(at - 1).filter(|t| {
        t.kind == TokenKind::Word
            && !t.quoted
            && !t.has(Tags::DETERMINER.or(Tags::AGENT_OWN).or(Tags::PREPOSITION))
            && !prose.is(t, VAGUE)
    })?;
    let mut before = tokens.get(looked + 1..at)?.iter().rev().take(4);
    let definite = before.any(|t| t.has(Tags::DETERMINER.or(Tags::AGENT_OWN)));
    let mut topic = vec![prose.word(which).to_ascii_lowercase()];
    let noun = tokens.get(at).map(|t| prose.word(t).to_ascii_lowercase())?;
    topic.extend((noun != "list" && noun != "reports").then_some(noun));
    let place = clause.tokens.start + at;
    let noun = "record".to_owned();
    definite.then(|| Thing { name: None, topic, noun, tokens: place..place + 1 })
}

/// Whether what was read is kept somewhere that only a call reaches: "your account", "the database".
fn reads_records(object: &[Token]) -> bool {
    let mut words = object.iter().take(4).take_while(|t| !t.has(Tags::PREPOSITION));
    let owned = words.by_ref().next().is_some_and(|t| {
        t.has(Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN).or(Tags::THIRD))
    });
    owned && words.any(|t| t.has(Tags::SYSTEM_NOUN.or(Tags::HOLDING)))
}

/// "A web search shows", "against a web search", "after checking with a web search": a search of
/// some place, as what a statement rests on.
fn search_as_source(
    prose: &Prose<'_>,
    clause: &Clause,
    is_search: &dyn Fn(&Token) -> bool,
) -> Option<usize> {
    let tokens = prose.tokens(clause.tokens.clone());
    let at = tokens.iter().position(is_search)?;
    let before = tokens.get(..at)?;
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::NEGATION).or(Tags::INTEND).or(Tags::REQUEST);
    let article = before.iter().rposition(|t| t.has(Tags::DETERMINER.or(Tags::AGENT_OWN)))?;
    let described = at - article <= 4 && at - article >= 2;
    if !described || before.iter().take(article).any(|t| t.has(doubt)) {
        return None;
    }
    let lead = before.get(..article)?;
    let rests = lead.last().is_some_and(|t| {
        matches!(prose.word(t), "against" | "with" | "by" | "via" | "through" | "on" | "from")
    }) && lead.iter().any(|t| {
        t.has(Tags::COMPLETED.or(Tags::GERUND)) && matches!(t.verb, Some(Action::Of(Family::Read)))
            || matches!(prose.word(t), "Based" | "based")
    });
    let says = tokens.get(at + 1).is_some_and(|t| t.has(Tags::PERCEIVE.or(Tags::REPORT)));
    (rests || (says && lead.iter().all(|t| t.has(Tags::COORDINATE.or(Tags::ADVERB)))))
        .then_some(clause.tokens.start + at)
}
