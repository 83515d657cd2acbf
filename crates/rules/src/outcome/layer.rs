//! Layers of tests: whether those that are spoken of were among those that ran.

use counterfoil_model::Family;

use super::extract::OutcomeClaim;
use super::judge::LOOK_BACK;
use super::verdict::is_test_name;
use crate::facts::Facts;
use crate::prose::Lexicon;

/// Words by which suites are told apart: their folders are named after them.
const LAYERS: [&str; 17] = [
    "mailer",
    "view",
    "helper",
    "job",
    "component",
    "unit",
    "integration",
    "e2e",
    "system",
    "request",
    "feature",
    "controller",
    "model",
    "acceptance",
    "functional",
    "smoke",
    "contract",
];

/// "The request specs pass", and every run was one of another layer by its command line:
/// `rspec spec/models`.
pub(super) fn is_of_other_layer(facts: &Facts<'_>, said: &OutcomeClaim) -> bool {
    let Some(wanted) = layer_said(&said.claim.text).filter(|_| said.family == Family::Test) else {
        return false;
    };
    let mut others = false;
    for (execution, deed) in facts.deeds_before(said.claim.turn).take(LOOK_BACK) {
        if deed.delegates || deed.continues {
            return false;
        }
        let Some(work) = &deed.shell else {
            if deed.families.has(Family::Test) {
                return false;
            }
            continue;
        };
        if layers(execution.text()).any(|layer| layer == wanted) {
            return false;
        }
        let mut runs = work.runs.iter().filter(|run| run.family == Family::Test).peekable();
        if runs.peek().is_none() {
            if work.opaque && layers(&work.command).any(|layer| layer == wanted) {
                return false;
            }
            continue;
        }
        let mut named = layers(&work.command).peekable();
        if runs.any(|run| run.whole) || named.peek().is_none() || named.any(|l| l == wanted) {
            return false;
        }
        others = true;
    }
    others
}

/// "The Playwright tests pass": where nothing on record speaks of that runner.
pub(super) fn is_of_unknown_runner(facts: &Facts<'_>, said: &OutcomeClaim) -> bool {
    const RUNNERS: [&str; 8] = [
        "playwright",
        "cypress",
        "dusk",
        "selenium",
        "puppeteer",
        "detox",
        "appium",
        "webdriverio",
    ];
    let words = || said.claim.text.split(|c: char| !c.is_alphanumeric());
    let runner = RUNNERS.iter().find(|known| words().any(|word| word.eq_ignore_ascii_case(known)));
    runner.is_some_and(|runner| {
        !facts.is_opaque_before(said.claim.turn)
            && !facts.delegates_before(said.claim.turn)
            && facts.source_of(runner, said.claim.turn, true).is_none()
    })
}

/// "`TestBudget` passes": where nothing on record has a test of that name.
pub(super) fn is_unheard_test(facts: &Facts<'_>, said: &OutcomeClaim) -> bool {
    let turn = said.claim.turn;
    let name = said.named.as_deref().filter(|name| is_test_name(name)).unwrap_or_default();
    let last = name.rsplit(['/', ':', '.']).find(|part| is_test_name(part)).unwrap_or_default();
    let last = last.split(['(', '[']).next().unwrap_or_default();
    last.len() > 5
        && facts.shows_all_before(turn)
        && !facts.is_opaque_before(turn)
        && !facts.delegates_before(turn)
        && facts.source_of(last, turn, true).is_none()
        && facts.given().find_loosely(last, turn).is_none()
}

/// The layer whose tests a claim speaks of: "the request specs".
fn layer_said(text: &str) -> Option<&'static str> {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    words.windows(2).find_map(|pair| {
        let [which, noun] = pair else { return None };
        let tests = Lexicon::english().get(noun)?.noun == Some(Family::Test);
        layer(which).filter(|_| tests)
    })
}

/// The layers that a text names.
fn layers(text: &str) -> impl Iterator<Item = &'static str> {
    text.split(|c: char| !c.is_alphanumeric()).filter_map(layer)
}

fn layer(word: &str) -> Option<&'static str> {
    let one = word.strip_suffix('s').unwrap_or(word);
    LAYERS.into_iter().find(|layer| layer.eq_ignore_ascii_case(one))
}
