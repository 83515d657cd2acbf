use counterfoil_model::{Code, Mode};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::prose::sets;
use crate::rule::{Group, Meta, Rule};
use crate::tool_use::{
    Mention, is_talked_about, retrieved, searches_only_files, shares_topic, unmade_work,
};

/// FK016: a look-up is implied that nobody made.
pub(crate) struct ImplicitToolUse;

static META: Meta = Meta {
    code: Code("FK016"),
    name: "implicit-tool-use",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent claims a look-up in an unnamed source, but made no such call",
    page: include_str!("../../spec/FK016.md"),
};

impl Rule for ImplicitToolUse {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for mention in facts.mentions().iter().filter(|m| m.name.is_none()) {
            judge(facts, findings, mention);
        }
        for (claim, message) in unmade_work(facts) {
            let note = Note::suspected(message).help("do it, or say that it was not done");
            findings.unsupported(facts, &claim, note);
        }
    }
}

fn judge(facts: &Facts<'_>, findings: &mut Findings<'_>, mention: &Mention) {
    let claim = &mention.claim;
    let Some(execution) = retrieved(facts, claim.turn) else {
        if !facts.is_complete_before(claim.turn) {
            return findings.not_checkable(claim);
        }
        let note = Note::suspected("the agent says it looked something up, but no call did")
            .help("look it up with a tool, or say that it was not checked");
        return findings.unsupported(facts, claim, note);
    };
    let web = mention.topic.first().is_some_and(|word| word == "web") && mention.topic.len() > 1;
    let files = web && searches_only_files(facts, claim.turn);
    if !files && shares_topic(facts, &mention.topic, claim.turn) {
        findings.supported(claim, [facts.evidence(execution)]);
        return;
    }
    // A command line goes to the web by few programs.
    if web && stays_offline(facts, claim.turn) {
        let note = Note::suspected("the agent says it searched the web, but no call went there")
            .help("look it up with a tool, or say that it was not checked");
        return findings.unsupported(facts, claim, note);
    }
    let shell = facts.runs_shell_before(claim.turn);
    if shell || !facts.transcript().catalog.is_known() {
        return findings.not_checkable(claim);
    }
    // What was looked into may stand in any result, or in what the user told.
    let record = matches!(mention.noun.as_str(), "record" | "check");
    // "your profile", "your details": what any such tool gives.
    let vague = ["profile", "account", "details", "information", "data", "address", "history"];
    let talked = |word: &String| {
        vague.contains(&word.as_str())
            || is_talked_about(facts, word, claim.turn)
            || (word.contains('-') && is_talked_about(facts, &word.replace('-', ""), claim.turn))
    };
    if record && mention.topic.iter().any(talked) {
        return findings.not_checkable(claim);
    }
    let source = format!("{} {}", mention.topic.join(" "), mention.noun);
    // "the visits from search engines": what the data are about.
    let named = !mention.topic.is_empty() && !mention.noun.is_empty();
    if named && facts.source_of(source.trim(), claim.turn, true).is_some() {
        return findings.not_checkable(claim);
    }
    findings.unsupported(
        facts,
        claim,
        Note::suspected(format!("no call went to a {}", source.trim()))
            .help("name what was really looked at"),
    );
}

/// Whether all that was called is known, and none of it goes to the web.
fn stays_offline(facts: &Facts<'_>, turn: usize) -> bool {
    // `gh` is a part of other words; `python3` and `nodejs` are what they begin with.
    let reaches = |command: &str| {
        command.split(|c: char| !c.is_alphanumeric()).any(|word| {
            let mut programs = sets::WEB_PROGRAMS.list.iter();
            programs.any(|p| word == *p || p.len() > 2 && word.starts_with(p))
        })
    };
    facts.is_complete_before(turn)
        && facts.deeds_before(turn).all(|(_, deed)| match &deed.shell {
            Some(work) => !work.opaque && !reaches(&work.command),
            None => !(deed.opaque || deed.delegates || deed.families.is_empty()),
        })
}
