//! Runs the cases of the pages in `spec/gates/`.

use std::sync::Arc;

use counterfoil_guard::{
    Admitted, GateId, Gates, GuardOptions, ORDER, Phase, Requested, ToolsOptions, TrustLevel,
    Verdict,
};
use serde_json::{Value, json};

use super::{Situation, call, ran, reading, verdict_of};

const PAGES: [(&str, &str); 10] = [
    ("blocklist", include_str!("../../../../../spec/gates/blocklist.md")),
    ("protected", include_str!("../../../../../spec/gates/protected.md")),
    ("quota", include_str!("../../../../../spec/gates/quota.md")),
    ("policy", include_str!("../../../../../spec/gates/policy.md")),
    ("dependency", include_str!("../../../../../spec/gates/dependency.md")),
    ("trust", include_str!("../../../../../spec/gates/trust.md")),
    ("permission", include_str!("../../../../../spec/gates/permission.md")),
    ("secrets", include_str!("../../../../../spec/gates/secrets.md")),
    ("utility", include_str!("../../../../../spec/gates/utility.md")),
    ("adversarial", include_str!("../../../../../spec/gates/adversarial.md")),
];

/// The text of the fenced block with this language.
fn block<'p>(page: &'p str, language: &str) -> Option<&'p str> {
    let begin = format!("```{language}\n");
    Some(page.split_once(&begin)?.1.split_once("```")?.0)
}

fn situation(words: &[&str]) -> Situation {
    let mut situation = Situation::default();
    let list = |text: &str| text.split(',').map(str::to_owned).collect();
    for word in words {
        let (key, value) = word.split_once('=').unwrap();
        let quoted = format!("\"{value}\"");
        match key {
            "trust" => situation.trust = serde_json::from_str::<TrustLevel>(&quoted).unwrap(),
            "requested" => situation.requested = Requested::ByUser,
            // These concern the call itself.
            "effects" | "recent" => {}
            "phase" => situation.phase = serde_json::from_str::<Phase>(&quoted).unwrap(),
            "calls" => situation.calls_made = value.parse().unwrap(),
            "tools" => situation.tools = list(value),
            "completed" => situation.completed = list(value),
            "mentioned" => situation.mentioned = list(value),
            other => panic!("{other}"),
        }
    }
    situation
}

#[track_caller]
fn check(gate: &str, gates: &Gates, case: &str) {
    // The example secret is assembled here, so that the page contains none.
    let token = concat!("ghp_Zx8Qw2Er5Ty7", "Ui9Op1As3Df6Gh4Jk0Lz2Xc");
    let case = &case.replace("TOKEN", token);
    let (before, arguments) = case.split_at(case.find('{').unwrap());
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    let words: Vec<&str> = before.split_whitespace().collect();
    let (Some((expected, middle)), Some(tool)) = (words.split_first(), words.last()) else {
        panic!("{case}")
    };
    let words = &middle[..middle.len() - 1];
    let mut situation = situation(words);
    let value_of =
        |key: &str| words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let call = match value_of("effects") {
        Some("reads") => Arc::new(Admitted::for_tests(reading(tool), arguments)),
        _ => call(tool, arguments),
    };
    if let Some(recent) = value_of("recent") {
        let arguments =
            if recent == "other" { &json!({ "for": "chairs" }) } else { call.arguments() };
        let before = Admitted::for_tests(call.tool().clone(), arguments.clone());
        situation.recent.push(ran(&before, recent == "outdated"));
    }
    let found = match verdict_of(gates, gate, &call, &situation) {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask(_) => "ask",
        Verdict::Deny(_) => "deny",
    };
    assert_eq!(found, *expected, "{gate}: {case}");
}

#[test]
fn every_gate_has_a_page_whose_cases_hold() {
    assert_eq!(PAGES.map(|(gate, _)| GateId(gate)), ORDER);
    for (number, (gate, page)) in PAGES.iter().enumerate() {
        assert!(page.starts_with(&format!("# Gate {}: {gate}\n", number + 1)), "{gate}");
        let tools: ToolsOptions = toml::from_str(block(page, "toml").unwrap_or_default()).unwrap();
        let mut options = GuardOptions { tools, ..GuardOptions::default() };
        // The settings that hooks use.
        options.tools.blocklist.asks_irreversible = *gate == "secrets";
        let gates = options.resolve().unwrap().gates();
        let gates = if *gate == "secrets" { gates.for_host() } else { gates }.build();
        let cases: Vec<&str> = block(page, "cases").unwrap().lines().collect();
        assert!(cases.len() >= 3, "{gate}");
        cases.into_iter().for_each(|case| check(gate, &gates, case));
    }
}
