use counterfoil_ledger::{Phase, TrustLevel};
use counterfoil_tools::{Over, Pattern, PatternError, check_pattern, glob, may_mean};
use globset::{GlobSet, GlobSetBuilder};
use regex::Regex;

use super::facts::Facts;
use super::options::{Effect, PolicyRule};
use crate::gate::mentioned::Named;

/// A rule with compiled patterns, except for its tool and `args_match`, which are matched for all
/// rules together.
#[derive(Debug, Clone)]
pub(super) struct Compiled {
    pub(super) name: String,
    /// The pattern of its tools. All rules' tools are matched together.
    pub(super) tool: Pattern,
    pub(super) effect: Effect,
    pub(super) reason: Option<String>,
    pub(super) has_expression: bool,
    paths: Option<Globs>,
    env: Vec<(String, Option<Pattern>)>,
    trust: Option<TrustLevel>,
    caller: Option<Caller>,
    phases: Vec<Phase>,
}

#[derive(Debug, Clone)]
enum Caller {
    Main,
    Named(Pattern),
}

/// Compiled path globs.
#[derive(Debug, Clone)]
pub(in crate::gate) struct Globs {
    /// Absolute globs, and those that begin with `**`.
    anywhere: GlobSet,
    /// Globs relative to the root of the project.
    inside: GlobSet,
    /// The folders of globs that end with `/**`.
    folders: Vec<Pattern>,
    /// All globs as they are written.
    written: Vec<String>,
}

/// The invalid part of a rule.
#[derive(Debug)]
pub(in crate::gate) struct Wrong {
    /// The key, with its index in a list.
    pub(in crate::gate) key: String,
    pub(in crate::gate) error: PatternError,
}

impl Wrong {
    fn at(key: impl Into<String>) -> impl FnOnce(PatternError) -> Self {
        let key = key.into();
        move |error| Self { key, error }
    }
}

impl Compiled {
    pub(super) fn new(rule: &PolicyRule, name: String) -> Result<Self, Wrong> {
        let tool = Pattern::new(rule.tools(), Over::Text).map_err(Wrong::at("tool"))?;
        if let Some(expression) = &rule.args_match {
            regular(expression).map_err(Wrong::at("args_match"))?;
        }
        let caller = rule.caller.as_deref().map(|caller| match caller {
            "" => Ok(Caller::Main),
            name => Pattern::new(name, Over::Text).map(Caller::Named),
        });
        let env = rule.env.iter().enumerate().map(|(i, variable)| {
            let (name, value) = match variable.split_once('=') {
                None => (variable.as_str(), None),
                Some((name, value)) => (name, Some(value)),
            };
            let value = value.map(|value| Pattern::new(value, Over::Text)).transpose();
            check_pattern(name)
                .and(value)
                .map(|value| (name.to_owned(), value))
                .map_err(Wrong::at(format!("env[{i}]")))
        });
        Ok(Self {
            name,
            tool,
            effect: rule.effect,
            reason: rule.reason.clone(),
            has_expression: rule.args_match.is_some(),
            paths: globs(&rule.paths)?,
            env: env.collect::<Result<_, _>>()?,
            trust: rule.trust_level,
            caller: caller.transpose().map_err(Wrong::at("caller"))?,
            phases: rule.phases.clone(),
        })
    }

    /// Whether the rule applies to every call of its tool.
    pub(super) fn is_unconditional(&self) -> bool {
        let Self { has_expression, paths, env, trust, caller, phases, .. } = self;
        let asks_nothing = paths.is_none() && trust.is_none() && caller.is_none();
        asks_nothing && !has_expression && env.is_empty() && phases.is_empty()
    }

    /// Whether the rule applies to the call, leaving aside its tool and `args_match`.
    pub(super) fn is_about(&self, facts: &Facts<'_>) -> bool {
        (self.phases.is_empty() || self.phases.contains(&facts.phase))
            && self.trust.is_none_or(|level| match self.effect {
                Effect::Allow => facts.trust >= level,
                Effect::Deny => facts.trust <= level,
            })
            && self.caller.as_ref().is_none_or(|caller| match caller {
                Caller::Main => facts.caller.is_empty(),
                Caller::Named(pattern) => pattern.is_match(facts.caller),
            })
            && self.env.iter().all(|(name, value)| {
                facts
                    .environment
                    .get(name)
                    .is_some_and(|found| value.as_ref().is_none_or(|value| value.is_match(found)))
            })
            && self.paths.as_ref().is_none_or(|globs| self.paths_match(globs, facts.paths()))
    }

    /// A denial applies if any possible path matches; an allowance needs to know all paths.
    fn paths_match(&self, globs: &Globs, paths: &[Named]) -> bool {
        match self.effect {
            Effect::Deny => paths.iter().any(|path| globs.holds(path) || globs.is_folder(path)),
            Effect::Allow => {
                let mut certain = paths.iter().filter(|path| path.certain).peekable();
                certain.peek().is_some() && certain.all(|path| !path.open && globs.holds(path))
            }
        }
    }
}

impl Globs {
    pub(in crate::gate) fn new(paths: &[String]) -> Result<Option<Self>, Wrong> {
        globs(paths)
    }

    /// Whether the path is the folder of a glob that ends with `/**`.
    fn is_folder(&self, path: &Named) -> bool {
        let forms = || [Some(path.absolute.as_str()), path.inside.as_deref()].into_iter().flatten();
        self.folders.iter().any(|folder| forms().any(|form| folder.is_match(form)))
    }

    /// Whether the path matches. If the path contains a pattern, whether it may match.
    pub(in crate::gate) fn holds(&self, path: &Named) -> bool {
        let forms = || [Some(path.absolute.as_str()), path.inside.as_deref()].into_iter().flatten();
        path.any
            || self.fits(&path.absolute, path.inside.as_deref())
            || path.open
                && self.written.iter().any(|known| forms().any(|form| may_mean(form, known)))
    }

    fn fits(&self, absolute: &str, inside: Option<&str>) -> bool {
        self.anywhere.is_match(absolute)
            || inside.is_some_and(|inside| self.inside.is_match(inside))
    }
}

/// Validates a regular expression, which is matched in linear time.
pub(super) fn regular(expression: &str) -> Result<(), PatternError> {
    check_pattern(expression)?;
    Regex::new(expression).map(drop).map_err(|error| PatternError::Syntax {
        pattern: expression.to_owned(),
        reason: error.to_string().lines().last().unwrap_or_default().trim().to_owned(),
    })
}

fn globs(paths: &[String]) -> Result<Option<Globs>, Wrong> {
    if paths.is_empty() {
        return Ok(None);
    }
    let mut anywhere = GlobSetBuilder::new();
    let mut inside = GlobSetBuilder::new();
    let (mut folders, mut written) = (Vec::new(), Vec::new());
    for (i, path) in paths.iter().enumerate() {
        let at = || Wrong::at(format!("paths[{i}]"));
        let plain = path.strip_prefix("./").unwrap_or(path);
        let at_home = ["$HOME/", "${HOME}/"].iter().find_map(|home| plain.strip_prefix(home));
        let at_home = at_home.map(|rest| format!("~/{rest}"));
        let plain =
            ["$PWD/", "${PWD}/"].iter().find_map(|pwd| plain.strip_prefix(pwd)).unwrap_or(plain);
        let plain = at_home.as_deref().unwrap_or(plain);
        let glob = glob(plain, Over::Paths).map_err(at())?;
        if let Some(folder) = plain.strip_suffix("/**").filter(|folder| !folder.is_empty()) {
            folders.push(Pattern::new(folder, Over::Paths).map_err(at())?);
        }
        written.push(plain.to_owned());
        if plain.starts_with(['/', '~']) || plain.starts_with("**") {
            anywhere.add(glob);
        } else {
            inside.add(glob);
        }
    }
    let built = |set: GlobSetBuilder| {
        set.build().map_err(|error| PatternError::Syntax {
            pattern: paths.join(", "),
            reason: error.kind().to_string(),
        })
    };
    let anywhere = built(anywhere).map_err(Wrong::at("paths"))?;
    let inside = built(inside).map_err(Wrong::at("paths"))?;
    Ok(Some(Globs { anywhere, inside, folders, written }))
}
