use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt::Write as _;
use std::hash::Hasher as _;

use counterfoil_model::Arguments;
use rustc_hash::FxHasher;

use crate::issue::{Issue, IssueSeverity, code};

/// The cycle lengths that are looked for, in calls.
const PERIODS: std::ops::RangeInclusive<usize> = 2..=4;

/// Detects that a session repeats the same calls without making progress.
///
/// Two calls are the same if they have the same tool and canonical arguments, and the same result
/// or an error. Both a single repeated call and a short repeated cycle of calls count. Each session
/// has its own instance; there is no global state.
#[derive(Debug)]
pub struct Fixation {
    settings: FixationSettings,
    history: VecDeque<Past>,
    repeats: HashMap<Fingerprint, Repeats>,
    streak: (String, usize),
    nudges: usize,
    events: Vec<FixationEvent>,
}

/// Validated thresholds for repetition.
#[derive(Debug, Clone)]
pub struct FixationSettings {
    /// Number of identical calls without progress at which the model is nudged.
    pub nudge: usize,
    /// Number of identical calls without progress at which further ones are refused.
    pub refuse: usize,
    /// Number of consecutive calls to one tool at which the model is nudged. `None`, the default,
    /// turns this off, because ten different reads in a row are ordinary work.
    pub streak: Option<usize>,
    /// Minimum number of latest calls that are kept for finding cycles. It limits no count.
    pub window: usize,
    /// Tools that are meant to be called repeatedly.
    pub pollers: BTreeSet<String>,
}

impl FixationSettings {
    /// The threshold for streaks when they are turned on.
    pub const STREAK: usize = 5;
}

impl Default for FixationSettings {
    fn default() -> Self {
        Self { nudge: 3, refuse: 5, streak: None, window: 10, pollers: BTreeSet::new() }
    }
}

/// One completed call.
#[derive(Debug, Clone, Copy)]
pub struct Step<'s> {
    /// The tool's name.
    pub tool: &'s str,
    /// The arguments as emitted.
    pub arguments: &'s Arguments,
    /// The result.
    pub result: &'s str,
    /// How the call ended.
    pub ending: Ending,
    /// Whether the tool changes state, if declared.
    pub writes: Option<bool>,
}

/// How a call ended, for the purpose of detecting repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It succeeded.
    Succeeded,
    /// It failed or was denied.
    Failed,
    /// It is still running, or no result is recorded. This is neither progress nor lack of it.
    Unknown,
}

/// A repetition that should be interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixationEvent {
    /// The kind of repetition.
    pub kind: FixationKind,
    /// The tool of the latest call.
    pub tool: String,
    /// The number of calls, or of rounds of a cycle.
    pub count: usize,
    /// The threshold that was reached.
    pub threshold: usize,
    /// Whether such calls are refused from now on.
    pub refused: bool,
}

/// The kind of repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixationKind {
    /// One call.
    Call,
    /// Several calls in turn.
    Cycle {
        /// The number of calls per round.
        period: usize,
    },
    /// One tool, with any arguments.
    Name,
}

/// The state of the current streak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreakInfo {
    /// The tool; empty before the first call.
    pub current_tool: String,
    /// The number of consecutive calls.
    pub streak_count: usize,
    /// The number at which the streak is reported.
    pub threshold: usize,
    /// Whether that number has been reached.
    pub at_threshold: bool,
    /// The number of nudges of any kind so far.
    pub nudges_sent: usize,
}

#[derive(Debug)]
struct Past {
    key: Fingerprint,
    result: Fingerprint,
    ending: Ending,
    exempt: bool,
}

#[derive(Debug)]
struct Repeats {
    count: usize,
    result: Fingerprint,
}

impl Fixation {
    /// An empty history.
    #[must_use]
    pub fn new(settings: FixationSettings) -> Self {
        Self {
            settings,
            history: VecDeque::new(),
            repeats: HashMap::new(),
            streak: (String::new(), 0),
            nudges: 0,
            events: Vec::new(),
        }
    }

    /// The issue with making this call now: a warning, a refusal, or `None`.
    #[must_use]
    pub fn before(&self, tool: &str, arguments: &Arguments) -> Option<Issue> {
        if self.settings.pollers.contains(tool) {
            return None;
        }
        let key = key(tool, arguments);
        let repeated = self.repeats.get(&key).map_or(0, |r| r.count) + 1;
        let cycle = PERIODS.map(|period| (self.rounds_with(key, period), period)).max();
        let (rounds, period) = cycle.unwrap_or((0, 0));
        let count = repeated.max(rounds);
        if count < self.settings.nudge {
            return None;
        }
        let refuse = count >= self.settings.refuse;
        let severity = if refuse { IssueSeverity::Block } else { IssueSeverity::Warn };
        let what = if repeated >= rounds {
            format!(
                "this would be call number {count} of `{tool}` with the same arguments and no \
                 progress"
            )
        } else {
            format!("this cycle of {period} calls would have run {count} times without progress")
        };
        let advice = "read the last result, try another approach, or ask the user";
        Some(
            Issue::new(code::REPEATED_CALL, severity, tool, format!("{what}; {advice}"))
                .expected(format!("fewer than {} times", self.settings.refuse))
                .actual(format!("{count} times")),
        )
    }

    /// Records a completed call. Returns a nudge for the model, if one is due.
    pub fn record(&mut self, step: Step<'_>) -> Option<String> {
        let past = Past {
            key: key(step.tool, step.arguments),
            result: fingerprint(&[step.result.as_bytes()]),
            ending: step.ending,
            exempt: self.settings.pollers.contains(step.tool),
        };
        let name = self.count_name(step.tool);
        let call = self.count_call(&past, step);
        self.history.push_back(past);
        // Enough for one round more than the refusal threshold, at the longest cycle.
        let kept = (self.settings.refuse + 1) * PERIODS.end();
        while self.history.len() > kept.max(self.settings.window) {
            self.history.pop_front();
        }
        let cycle = self.cycle();
        let (kind, count, threshold) = call.or(cycle).or(name)?;
        let refused = kind != FixationKind::Name && count >= self.settings.refuse;
        let tool = step.tool.to_owned();
        let event = FixationEvent { kind, tool, count, threshold, refused };
        let text = nudge(&event);
        self.events.push(event);
        self.nudges += 1;
        Some(text)
    }

    /// All events so far.
    #[must_use]
    pub fn events(&self) -> &[FixationEvent] {
        &self.events
    }

    /// The number of nudges so far.
    #[must_use]
    pub fn nudges_sent(&self) -> usize {
        self.nudges
    }

    /// The state of the current streak.
    #[must_use]
    pub fn streak_info(&self) -> StreakInfo {
        let (tool, count) = &self.streak;
        let threshold = self.settings.streak.unwrap_or(FixationSettings::STREAK);
        StreakInfo {
            current_tool: tool.clone(),
            streak_count: *count,
            threshold,
            at_threshold: *count >= threshold,
            nudges_sent: self.nudges,
        }
    }

    /// The events as text, one per line, without a final line break.
    #[must_use]
    pub fn report(&self) -> String {
        if self.events.is_empty() {
            return "No tool fixation detected.".to_owned();
        }
        let mut text = format!("Tool fixation: {} events", self.events.len());
        for event in &self.events {
            let FixationEvent { tool, count, threshold, refused, .. } = event;
            let what = match event.kind {
                FixationKind::Call => "identical calls without progress".to_owned(),
                FixationKind::Cycle { period } => {
                    format!("repetitions of a cycle of {period} calls")
                }
                FixationKind::Name => "calls in a row".to_owned(),
            };
            let end = if *refused { ", further ones refused" } else { "" };
            // Writing to a String cannot fail.
            let _ = write!(text, "\n  {tool}: {count} {what} (threshold {threshold}{end})");
        }
        text
    }

    /// Starts counting afresh because the situation changed, for example after a user message.
    /// Events and nudges are kept.
    pub fn reset(&mut self) {
        self.history.clear();
        self.repeats.clear();
        self.streak = (String::new(), 0);
    }

    fn count_name(&mut self, tool: &str) -> Option<(FixationKind, usize, usize)> {
        if self.streak.0 == tool {
            self.streak.1 += 1;
        } else {
            self.streak = (tool.to_owned(), 1);
        }
        let threshold = self.settings.streak?;
        let reached = self.streak.1 >= threshold && !self.settings.pollers.contains(tool);
        reached.then_some((FixationKind::Name, self.streak.1, threshold))
    }

    fn count_call(&mut self, past: &Past, step: Step<'_>) -> Option<(FixationKind, usize, usize)> {
        if past.exempt || past.ending == Ending::Unknown {
            return None;
        }
        let again = self
            .repeats
            .get(&past.key)
            .is_some_and(|before| past.ending == Ending::Failed || before.result == past.result);
        // After a call that may have changed something, looking again makes sense. A write that
        // merely repeats itself changes nothing.
        if !again && past.ending == Ending::Succeeded && step.writes != Some(false) {
            self.repeats.clear();
        }
        let repeats =
            self.repeats.entry(past.key).or_insert(Repeats { count: 0, result: past.result });
        repeats.count = if again { repeats.count + 1 } else { 1 };
        repeats.result = past.result;
        let nudge = self.settings.nudge;
        (repeats.count >= nudge).then_some((FixationKind::Call, repeats.count, nudge))
    }

    fn cycle(&self) -> Option<(FixationKind, usize, usize)> {
        let nudge = self.settings.nudge;
        PERIODS.into_iter().find_map(|period| {
            let rounds = self.matching(period)?;
            // Reported once per round, not for every call in it.
            let whole = rounds % period == 0;
            let count = rounds / period + 1;
            (whole && count >= nudge).then_some((FixationKind::Cycle { period }, count, nudge))
        })
    }

    /// The number of rounds of a cycle with this period if the call came next.
    fn rounds_with(&self, next: Fingerprint, period: usize) -> usize {
        let from_end =
            |n: usize| self.history.len().checked_sub(n).and_then(|i| self.history.get(i));
        if from_end(period).is_none_or(|past| past.key != next) {
            return 0;
        }
        self.matching(period).map_or(0, |same| (same + 1) / period + 1)
    }

    /// The number of latest calls that equal the one a period earlier. `None` if a call of the last
    /// round is exempt or still open, or if the round consists of a single repeated call.
    fn matching(&self, period: usize) -> Option<usize> {
        let latest = || self.history.iter().rev();
        let first = latest().next()?;
        let mut round = latest().take(period);
        if round.clone().any(|past| past.exempt || past.ending == Ending::Unknown)
            || round.all(|past| past.key == first.key)
        {
            return None;
        }
        let same = |(now, then): &(&Past, &Past)| {
            now.key == then.key && (now.ending == Ending::Failed || now.result == then.result)
        };
        Some(latest().zip(latest().skip(period)).take_while(same).count())
    }
}

/// A hash that distinguishes the calls and results of one session; it has no cryptographic value.
type Fingerprint = [u64; 2];

fn fingerprint(parts: &[&[u8]]) -> Fingerprint {
    [0, 1].map(|seed: u64| {
        let mut hasher = FxHasher::default();
        hasher.write_u64(seed);
        for part in parts {
            hasher.write(part);
        }
        hasher.finish()
    })
}

/// Longer arguments are compared as emitted: an agent that repeats this much repeats it verbatim.
const LONGEST_CANONICAL: usize = 4_096;

fn key(tool: &str, arguments: &Arguments) -> Fingerprint {
    let raw = arguments.as_str();
    let short = raw.len() <= LONGEST_CANONICAL;
    let canonical = short.then(|| arguments.canonical().ok()).flatten();
    fingerprint(&[tool.as_bytes(), b"\0", canonical.as_deref().unwrap_or(raw.as_bytes())])
}

fn nudge(event: &FixationEvent) -> String {
    let FixationEvent { tool, count, .. } = event;
    let what = match event.kind {
        FixationKind::Call => {
            format!(
                "You have called `{tool}` {count} times with the same arguments and got nowhere"
            )
        }
        FixationKind::Cycle { period } => format!(
            "You have repeated the same {period} calls, ending with `{tool}`, {count} times \
             and got nowhere"
        ),
        FixationKind::Name => format!("You have called `{tool}` {count} times in a row"),
    };
    format!(
        "{what}. Consider:\n\
         1. Did the tool return an error? Read it carefully.\n\
         2. Is there another tool that could help?\n\
         3. Should you ask the user?\n\
         4. Is the task already done?"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a session given as calls with result, ending and whether the tool writes.
    fn counts(session: &[(&str, &str, Ending, Option<bool>)]) -> Vec<(FixationKind, usize, bool)> {
        let mut fixation = Fixation::new(FixationSettings {
            pollers: ["poll".to_owned()].into(),
            ..FixationSettings::default()
        });
        let arguments = &Arguments::raw("{}");
        for &(tool, result, ending, writes) in session {
            fixation.record(Step { tool, arguments, result, ending, writes });
        }
        fixation.events().iter().map(|e| (e.kind, e.count, e.refused)).collect()
    }

    #[test]
    fn what_counts_as_no_progress() {
        use Ending::{Failed, Succeeded, Unknown};
        use FixationKind::{Call, Cycle};
        let read = |tool, result| (tool, result, Succeeded, Some(false));
        let fail = |tool, result| (tool, result, Failed, None);
        let write = |tool, result| (tool, result, Succeeded, Some(true));
        let check = |session: &[_], expected: &[_]| assert_eq!(counts(session), expected);
        check(&[read("a", "x"), read("a", "x")], &[]);
        check(&[read("a", "x"); 3], &[(Call, 3, false)]);
        check(&[read("a", "x"); 5], &[(Call, 3, false), (Call, 4, false), (Call, 5, true)]);
        check(&[fail("a", "e1"), fail("a", "e2"), fail("a", "e3")], &[(Call, 3, false)]);
        check(&[read("a", "1"), read("a", "2"), read("a", "3")], &[]);
        check(
            &[read("a", "x"), read("b", "y"), read("a", "x"), read("a", "x")],
            &[(Call, 3, false)],
        );
        check(&[read("a", "x"), write("w", "ok"), read("a", "x"), read("a", "x")], &[]);
        check(&[write("w", "ok"); 3], &[(Call, 3, false)]);
        check(&[read("poll", "x"); 9], &[]);
        check(&[("a", "x", Unknown, None); 9], &[]);
        let unknown = |tool, result| (tool, result, Succeeded, None);
        let pair = [unknown("a", "x"), unknown("b", "y")];
        check(&[pair, pair].concat(), &[]);
        check(&[pair, pair, pair].concat(), &[(Cycle { period: 2 }, 3, false)]);
    }

    #[test]
    fn says_so_before_the_call() {
        let arguments = Arguments::raw("{\"b\":1,\"a\":1.0}");
        let same = Arguments::raw("{\"a\":1,\"b\":1}");
        let mut fixation = Fixation::new(FixationSettings::default());
        let mut severities = Vec::new();
        for _ in 0..5 {
            severities.push(fixation.before("t", &same).map(|issue| issue.severity));
            fixation.record(Step {
                tool: "t",
                arguments: &arguments,
                result: "no",
                ending: Ending::Failed,
                writes: None,
            });
        }
        let (warn, block) = (Some(IssueSeverity::Warn), Some(IssueSeverity::Block));
        assert_eq!(severities, [None, None, warn, warn, block]);
        assert_eq!(fixation.nudges_sent(), 3);
        assert_eq!(fixation.report().lines().count(), 4);
        fixation.reset();
        assert_eq!(fixation.before("t", &same), None);
    }

    #[test]
    fn streaks_of_a_name_are_off_unless_enabled() {
        let mut fixation =
            Fixation::new(FixationSettings { streak: Some(3), ..FixationSettings::default() });
        let mut nudges = Vec::new();
        for n in 0..12 {
            let arguments = Arguments::raw(format!("{{\"n\":{n}}}"));
            let step = Step {
                tool: "read",
                arguments: &arguments,
                result: "x",
                ending: Ending::Succeeded,
                writes: Some(false),
            };
            nudges.push(fixation.record(step).unwrap_or_default());
        }
        assert_eq!(nudges[..2], ["", ""]);
        for (count, nudge) in (1..).zip(&nudges).skip(2) {
            assert!(nudge.contains(&format!("`read` {count} times in a row")), "{nudge}");
        }
        assert!(fixation.events().iter().all(|e| e.kind == FixationKind::Name && !e.refused));
        assert_eq!(
            fixation.streak_info(),
            StreakInfo {
                current_tool: "read".to_owned(),
                streak_count: 12,
                threshold: 3,
                at_threshold: true,
                nudges_sent: 10
            }
        );
    }
}
