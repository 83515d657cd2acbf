use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use counterfoil_admission::{Ending, Fixation, FixationKind, FixationSettings, Step, StreakInfo};
use counterfoil_model::Arguments;
use pyo3::prelude::*;

/// Detects that an agent repeats itself.
#[pyclass(frozen, name = "Fixation", module = "counterfoil._counterfoil")]
pub(crate) struct PyFixation {
    watch: Mutex<Fixation>,
}

#[pymethods]
impl PyFixation {
    /// `streak`: the number of consecutive calls to one tool that triggers a nudge; `nudge` and
    /// `refuse`: the numbers of identical calls without progress that trigger a nudge or a refusal.
    #[new]
    #[pyo3(signature = (streak, window, nudge, refuse, pollers=Vec::new()))]
    fn new(
        streak: Option<usize>,
        window: usize,
        nudge: usize,
        refuse: usize,
        pollers: Vec<String>,
    ) -> Self {
        let pollers: BTreeSet<String> = pollers.into_iter().collect();
        let settings = FixationSettings { nudge, refuse, streak, window, pollers };
        Self { watch: Mutex::new(Fixation::new(settings)) }
    }

    /// Records a call that ended. Returns what to tell the agent if it repeats itself.
    #[pyo3(signature = (tool, arguments="{}", result="", succeeded=None))]
    fn record(
        &self,
        tool: &str,
        arguments: &str,
        result: &str,
        succeeded: Option<bool>,
    ) -> Option<String> {
        let ending = match succeeded {
            Some(true) => Ending::Succeeded,
            Some(false) => Ending::Failed,
            None => Ending::Unknown,
        };
        let arguments = Arguments::raw(arguments);
        self.lock().record(Step { tool, arguments: &arguments, result, ending, writes: None })
    }

    /// Returns `(tool, count, threshold, whether it is a streak of one tool)` for each event.
    fn events(&self) -> Vec<(String, usize, usize, bool)> {
        let watch = self.lock();
        let events = watch.events().iter();
        let named = |kind: FixationKind| kind == FixationKind::Name;
        events.map(|e| (e.tool.clone(), e.count, e.threshold, named(e.kind))).collect()
    }

    fn nudges_sent(&self) -> usize {
        self.lock().nudges_sent()
    }

    /// Returns `(tool, count, threshold, whether it is reached, nudges so far)`.
    fn streak(&self) -> (String, usize, usize, bool, usize) {
        let StreakInfo { current_tool, streak_count, threshold, at_threshold, nudges_sent } =
            self.lock().streak_info();
        (current_tool, streak_count, threshold, at_threshold, nudges_sent)
    }

    fn report(&self) -> String {
        self.lock().report()
    }

    fn reset(&self) {
        self.lock().reset();
    }
}

impl PyFixation {
    fn lock(&self) -> MutexGuard<'_, Fixation> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
