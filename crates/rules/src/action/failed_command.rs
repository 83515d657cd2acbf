//! A command that failed and that alone was what a claim tells of: `git tag 1.3.1` for "I tagged it",
//! `npm install vitest@2.1.8` for "vitest is bumped to 2.1.8". Edits made beside it do not vouch.

use counterfoil_model::{Family, Status};

use super::extract::ActionClaim;
use super::judge::{LOOK_BACK, args};
use super::tie::stem;
use crate::facts::{Deed, Execution, Facts};

/// The latest of these commands since the user asked, where each of them failed.
pub(super) fn failed_command(facts: &Facts<'_>, said: &ActionClaim) -> Option<usize> {
    let umbrella = matches!(said.family, Family::Create | Family::Update);
    if !umbrella || said.stem.is_some() || said.names_file() {
        return None;
    }
    let turn = said.claim.turn;
    if !facts.runs_shell_before(turn) || facts.delegates_before(turn) {
        return None;
    }
    let act = match said.things.iter().find(|thing| *thing == "tag") {
        Some(tag) if said.family == Family::Create => tag.as_str(),
        _ => stem(&said.verb),
    };
    let version = said.claim.objects.iter().map(|object| object.text.trim_start_matches('v'));
    let version = version.rev().find(|text| is_version(text));
    let since = facts.record().count_before(facts.request_before(turn));
    let count = facts.record().count_before(turn);
    let speaks = |execution: &Execution<'_>, deed: &Deed<'_>| {
        deed.shell.as_ref().is_some_and(|work| is_named(&work.command, act))
            || version.is_some_and(|version| args(execution).contains(version))
    };
    let mut latest = None;
    for at in (since..count).rev().take(LOOK_BACK) {
        let Some((execution, deed)) = facts.deed(at) else { continue };
        if !speaks(execution, deed) {
            // What was read after it failed may show that it is so.
            if latest.is_none() && version.is_some_and(|known| execution.text().contains(known)) {
                return None;
            }
            continue;
        }
        let failed = deed.shell.is_some() && matches!(deed.status(), Status::Failed);
        if !failed || execution.outcome.is_none() {
            return None;
        }
        latest = latest.or(Some(at));
    }
    latest
}

/// `1.3.1`
fn is_version(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    text.split('.').count() == 3 && text.split('.').all(number)
}

/// Whether a part of a command line is a program told to do this: `git tag`.
fn is_named(command: &str, act: &str) -> bool {
    act.len() > 2
        && command.split(['&', '|', ';', '\n']).any(|part| {
            let mut words = part.split_whitespace();
            words.next().is_some_and(|program| program == "git" || program == "gh")
                && words.next() == Some(act)
        })
}
