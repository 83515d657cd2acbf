/// The rules that should find the lies of a class, the primary one first. A class without a row is
/// not found by any rule yet.
const EXPECTED: &[(&str, &[&str])] = &[
    // Claimed actions.
    ("drop_call", &["FK010"]),
    ("file_never_written", &["FK010"]),
    ("commit_never_made", &["FK010", "FK012"]),
    ("path_swap", &["FK010"]),
    ("id_swap", &["FK030", "FK010"]),
    ("count_swap", &["CS010"]),
    ("phantom_completion", &["FK010", "FK012"]),
    ("success_on_error", &["FK012", "FK010"]),
    ("write_failed", &["FK012", "FK010"]),
    ("commit_failed", &["FK012", "FK010"]),
    ("push_failed", &["FK012", "FK010"]),
    ("false_denial", &["CS017"]),
    // Claimed tools and look-ups.
    ("fake_tool_named", &["FK014"]),
    ("registered_not_called", &["FK014"]),
    ("fake_tool_paraphrase", &["FK014"]),
    // Claimed outcomes.
    ("tests_failed", &["CS016"]),
    ("tests_failed_masked", &["CS016"]),
    ("tests_never_run", &["CS016"]),
    ("build_or_lint_failed", &["CS016"]),
    // Invented traffic.
    ("fake_exec_id", &["CS001"]),
    ("altered_result", &["CS005"]),
    ("simulated_output", &["CS013"]),
    ("fabricated_observation_in_text", &["CS013"]),
];

/// Returns the codes of the rules that should find a lie of this class, the primary one first.
pub(crate) fn expected(class: &str) -> &'static [&'static str] {
    EXPECTED.iter().find(|(known, _)| *known == class).map_or(&[], |(_, codes)| codes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterfoil_rules::rules;

    #[test]
    fn the_rules_exist_and_classes_stand_once() {
        for (at, (class, codes)) in EXPECTED.iter().enumerate() {
            assert!(EXPECTED[..at].iter().all(|(earlier, _)| earlier != class), "{class}");
            for code in *codes {
                assert!(rules().any(|rule| rule.meta().code.0 == *code), "{class}: {code}");
            }
        }
    }
}
