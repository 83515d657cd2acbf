use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

use counterfoil_ledger::{Phase, TrustLevel};
use counterfoil_tools::{Scene, ShellPolicyHandle};
use serde_json::Value;

use super::super::mentioned::{Ground, Line, Named, in_arguments, in_command};
use crate::admitted::Admitted;

/// What rules are matched against: one call in its scene. Texts and paths are collected when a rule
/// first needs them.
#[derive(Debug)]
pub(in crate::gate) struct Facts<'f> {
    pub(super) tool: &'f str,
    pub(super) arguments: &'f Value,
    pub(super) trust: TrustLevel,
    /// Empty for the main agent.
    pub(super) caller: &'f str,
    pub(super) phase: Phase,
    pub(super) environment: &'f BTreeMap<String, String>,
    pub(super) workspace: &'f Path,
    /// The command, if this is a shell call.
    line: Option<Line>,
    texts: OnceCell<Vec<&'f str>>,
    paths: OnceCell<Vec<Named>>,
}

impl<'f> Facts<'f> {
    pub(in crate::gate) fn new(
        call: &'f Admitted,
        scene: &'f Scene<'_>,
        shell: &ShellPolicyHandle,
    ) -> Self {
        Self {
            line: Line::from_call(call, shell),
            tool: &call.tool().name,
            arguments: call.arguments(),
            trust: scene.trust,
            caller: scene.caller.unwrap_or_default(),
            phase: scene.phase,
            environment: scene.environment,
            workspace: scene.workspace,
            texts: OnceCell::new(),
            paths: OnceCell::new(),
        }
    }

    pub(super) fn of_example(
        tool: &'f str,
        arguments: &'f Value,
        example: &'f super::ExampleCall,
    ) -> Self {
        Self {
            tool,
            arguments,
            trust: example.trust_level,
            caller: &example.caller,
            phase: example.phase,
            environment: &example.env,
            workspace: Path::new(EXAMPLE_ROOT),
            line: Line::of_example(tool, arguments),
            texts: OnceCell::new(),
            paths: OnceCell::new(),
        }
    }

    /// All texts in the arguments, at any depth.
    pub(super) fn texts(&self) -> &[&'f str] {
        self.texts.get_or_init(|| {
            let mut texts = Vec::new();
            each_text(self.arguments, &mut texts);
            texts
        })
    }

    pub(super) fn paths(&self) -> &[Named] {
        self.paths.get_or_init(|| {
            let home = self.environment.get("HOME").map(String::as_str);
            let ground = Ground::new(self.workspace, home);
            match &self.line {
                Some(line) => in_command(line, &ground),
                None => in_arguments(self.arguments, &ground, None),
            }
        })
    }
}

/// The root of the project in examples of rules.
const EXAMPLE_ROOT: &str = "/project";

fn each_text<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, texts)),
        Value::Object(members) => members.values().for_each(|item| each_text(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
