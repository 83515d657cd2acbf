//! The claim of the canary is false according to each agent's own log.

use counterfoil_formats::{Options, read};
use counterfoil_hooks::{Agent, canary_log};
use counterfoil_model::{Severity, Verdict};
use counterfoil_rules::{Settings, check};

#[test]
fn the_claim_is_contradicted_by_the_log() {
    for agent in Agent::ALL {
        let log = canary_log(agent, "/p");
        let mut transcripts = Vec::new();
        let options = Options::new("canary");
        read(log.as_bytes(), &options, &mut |reading| {
            assert_eq!(reading.problems, [], "{}", agent.name());
            transcripts.push(reading.transcript);
        })
        .unwrap();
        assert_eq!(transcripts.len(), 1);
        let findings = check(&transcripts[0], &Settings::default()).findings;
        let blocks = findings
            .iter()
            .any(|f| f.verdict == Verdict::Contradicted && f.severity == Severity::Error);
        assert!(blocks, "{}: {findings:?}", agent.name());
    }
}
