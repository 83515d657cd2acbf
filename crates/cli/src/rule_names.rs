use std::collections::BTreeMap;

use counterfoil_judge::{JUDGE, JUDGE_NAME};
use counterfoil_model::Mode;
use counterfoil_report::RuleCard;
use counterfoil_rules::{Meta, Settings, rules};
use globset::GlobBuilder;

use crate::config::{ObligationOptions, Options};
use crate::exit::Complaint;
use crate::suggest::{did_you_mean, nearest, nearest_code};

/// Returns the metadata of every rule, in the order of the table.
pub(crate) fn metas() -> impl Iterator<Item = &'static Meta> {
    rules().map(|rule| rule.meta())
}

/// Finds a rule by code or name, ignoring case.
pub(crate) fn find(word: &str) -> Result<&'static Meta, Complaint> {
    let wanted = word.trim();
    metas()
        .find(|meta| {
            meta.code.0.eq_ignore_ascii_case(wanted) || meta.name.eq_ignore_ascii_case(wanted)
        })
        .ok_or_else(|| unknown(wanted))
}

fn unknown(wanted: &str) -> Complaint {
    if is_judge(wanted) {
        return Complaint::new(format!("`{wanted}` is not a rule: its findings come from a judge"))
            .help("`counterfoil explain JUDGE` explains it; `--no-judge` runs without a judge");
    }
    let meant = if wanted.contains(|c: char| c.is_ascii_digit()) {
        nearest_code(wanted, metas().map(|meta| meta.code.0))
    } else {
        nearest(wanted, metas().flat_map(|meta| [meta.code.0, meta.name]))
    };
    let help = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`counterfoil rules` lists all rules".to_owned(),
    };
    Complaint::new(format!("unknown rule `{wanted}`")).help(help)
}

/// Whether the word names what a judge reports, which is not a rule.
pub(crate) fn is_judge(word: &str) -> bool {
    [JUDGE.0, JUDGE_NAME].iter().any(|name| name.eq_ignore_ascii_case(word.trim()))
}

/// Describes what a judge reports.
pub(crate) fn judge_card() -> RuleCard {
    RuleCard {
        code: JUDGE.0,
        name: JUDGE_NAME,
        summary: "a statement that the judge, a language model, found false or unsupported",
        mode: Mode::Warn,
        page: include_str!("judge/page.md"),
    }
}

/// Finds the rules for a list of codes, names and patterns (`CS01*`), separated by commas.
pub(crate) fn find_all(word: &str) -> Result<Vec<&'static Meta>, Complaint> {
    let mut found = Vec::new();
    for part in word.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?', '[']) {
            found.push(find(part)?);
            continue;
        }
        let pattern = GlobBuilder::new(part).case_insensitive(true).build();
        let pattern = pattern.map_err(|wrong| Complaint::new(wrong.to_string()))?;
        let pattern = pattern.compile_matcher();
        let before = found.len();
        found.extend(metas().filter(|m| pattern.is_match(m.code.0) || pattern.is_match(m.name)));
        if found.len() == before {
            let help = "`counterfoil rules` lists all rules";
            return Err(Complaint::new(format!("no rule matches `{part}`")).help(help));
        }
    }
    if found.is_empty() {
        return Err(Complaint::new(format!("no rule name in `{word}`")));
    }
    Ok(found)
}

/// Returns descriptions of the rules and of the judge for reports.
pub(crate) fn cards() -> Vec<RuleCard> {
    metas().map(card).chain([judge_card()]).collect()
}

/// Describes a rule.
pub(crate) fn card(meta: &Meta) -> RuleCard {
    let Meta { name, summary, mode, page, .. } = *meta;
    RuleCard { code: meta.code.0, name, summary, mode, page }
}

/// Which rules run, and how strictly, as given by flags and configuration.
#[derive(Debug)]
pub(crate) struct Selection<'a> {
    /// The configuration.
    pub(crate) options: &'a Options,
    /// `--mode`: a mode for all, or `CODE=MODE`.
    pub(crate) modes: &'a [String],
    /// `--rule`: run only these.
    pub(crate) only: &'a [String],
    /// `--ignore`: do not run these, in addition to those in the configuration.
    pub(crate) ignored: &'a [String],
}

impl Selection<'_> {
    /// Validates the words and returns the settings. Later words and words for a single rule win.
    pub(crate) fn settings(&self) -> Result<Settings, Complaint> {
        let mut modes = BTreeMap::new();
        for (word, mode) in &self.options.rules {
            modes.extend(find_all(word)?.iter().map(|meta| (meta.code, Mode::from(*mode))));
        }
        for word in self.modes.iter().filter(|word| !word.contains('=')) {
            let mode = mode_of(word)?;
            for meta in metas() {
                // A mode for all rules does not enable rules that are off.
                if modes.get(&meta.code).copied().unwrap_or(meta.mode) != Mode::Off {
                    modes.insert(meta.code, mode);
                }
            }
        }
        for word in self.modes {
            if let Some((rule, mode)) = word.split_once('=') {
                let mode = mode_of(mode)?;
                modes.extend(find_all(rule)?.iter().map(|meta| (meta.code, mode)));
            }
        }
        if !self.only.is_empty() {
            let only = self.only.iter().map(|word| find_all(word));
            let only: Vec<_> = only.collect::<Result<Vec<_>, _>>()?.concat();
            for meta in metas() {
                let mode = modes.get(&meta.code).copied().unwrap_or(meta.mode);
                if !only.iter().any(|chosen| chosen.code == meta.code) {
                    modes.insert(meta.code, Mode::Off);
                } else if mode == Mode::Off {
                    // A rule that is named explicitly runs, even if it is off by default.
                    modes.insert(meta.code, Mode::Warn);
                }
            }
        }
        for word in self.options.check.ignore.iter().chain(self.ignored) {
            modes.extend(find_all(word)?.iter().map(|meta| (meta.code, Mode::Off)));
        }
        let is_off = |meta: &Meta| modes.get(&meta.code).unwrap_or(&meta.mode) == &Mode::Off;
        if !self.only.is_empty() && metas().all(is_off) {
            return Err(Complaint::new("no rule is left to run")
                .help("`--ignore` or the configuration excludes every rule that `--rule` names"));
        }
        let obligations = self.options.obligations.iter().map(ObligationOptions::checked);
        let obligations = obligations
            .collect::<Result<Vec<_>, _>>()
            .map_err(|wrong| Complaint::new(wrong.to_string()))?;
        let tools = &self.options.tools;
        let fixation = tools.fixation.clone().resolve();
        Ok(Settings {
            modes,
            execution_window_secs: self.options.check.execution_window,
            admission: tools.admission.clone().resolve(),
            fixation: fixation
                .map_err(|wrong| Complaint::new(format!("[tools.fixation]: {wrong}")))?,
            obligations,
        })
    }
}

fn mode_of(word: &str) -> Result<Mode, Complaint> {
    const MODES: [(&str, Mode); 4] = [
        ("off", Mode::Off),
        ("shadow", Mode::Shadow),
        ("warn", Mode::Warn),
        ("block", Mode::Block),
    ];
    let wanted = word.trim();
    MODES
        .into_iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
        .map(|(_, mode)| mode)
        .ok_or_else(|| {
            // Severities, and the levels of other linters.
            let meant = match wanted.to_ascii_lowercase().as_str() {
                "error" | "fatal" | "deny" => Some("block"),
                "warning" => Some("warn"),
                "note" | "info" | "hint" => Some("shadow"),
                "none" | "ignore" | "allow" | "disable" | "disabled" => Some("off"),
                _ => None,
            };
            let help = meant
                .map(|mode| format!("did you mean `{mode}`?"))
                .or_else(|| did_you_mean(wanted, MODES.map(|(name, _)| name)))
                .unwrap_or_else(|| "the modes are `off`, `shadow`, `warn`, `block`".to_owned());
            Complaint::new(format!("unknown mode `{wanted}`")).help(help)
        })
}
