use counterfoil_admission::CallReport;
use counterfoil_model::{Digest, ExactValue, Tool, ToolCall, canonical_bytes_of};
use serde_json::Value;

/// A call that admission let pass. Nothing else can make one.
///
/// What the model wrote is kept as it was written; what will run stands beside it.
#[derive(Debug, Clone)]
pub struct Admitted {
    call: ToolCall,
    tool: Tool,
    arguments: ExactValue,
    digest: Digest,
    report: CallReport,
}

impl Admitted {
    /// The call, if its report has no blocking issue. `tool` is the one that is meant.
    pub(crate) fn new(
        call: ToolCall,
        tool: Tool,
        mut report: CallReport,
    ) -> Result<Self, Box<(ToolCall, CallReport)>> {
        if !report.valid() {
            return Err(Box::new((call, report)));
        }
        let corrected = report.corrected_arguments.clone();
        let Some(arguments) = corrected.or_else(|| report.arguments.take()) else {
            return Err(Box::new((call, report)));
        };
        let digest = call_digest(&tool.name, &arguments);
        Ok(Self { call, tool, arguments, digest, report })
    }

    /// The call as the model wrote it.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The tool that will run.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// The arguments that will run, for whoever only reads them: an object.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The arguments that will run, with every number as it was written: what is shown, recorded
    /// and executed.
    #[must_use]
    pub fn exact_arguments(&self) -> &ExactValue {
        &self.arguments
    }

    /// Digest of the canonical `{tool, arguments}` that will run: what an approval is bound to.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// What admission had to say, warnings above all.
    #[must_use]
    pub fn report(&self) -> &CallReport {
        &self.report
    }
}

/// The digest of the canonical `{tool, arguments}`, in form 2: calls whose arguments differ in any
/// digit have different ones.
pub(crate) fn call_digest(tool: &str, arguments: &ExactValue) -> Digest {
    #[derive(serde::Serialize)]
    struct Called<'c> {
        arguments: &'c ExactValue,
        tool: &'c str,
    }
    let bytes = canonical_bytes_of(&Called { arguments, tool });
    // A value and a text can always be written.
    debug_assert!(bytes.is_ok());
    Digest::of_bytes(&bytes.unwrap_or_default())
}

/// Calls without admission, so that executors and gates can test themselves.
#[cfg(any(test, feature = "permits-for-tests"))]
impl Admitted {
    /// A call of `tool` with these arguments, as if admission had let it pass.
    #[must_use]
    pub fn for_tests(tool: Tool, arguments: Value) -> Self {
        let arguments = ExactValue::from(arguments);
        let call = ToolCall {
            id: "call_1".to_owned(),
            tool: tool.name.clone(),
            arguments: counterfoil_model::Arguments::from(&arguments),
            line: 0,
        };
        let digest = call_digest(&tool.name, &arguments);
        let report = CallReport {
            tool: tool.name.clone(),
            resolved_name: None,
            issues: Vec::new(),
            arguments: None,
            corrected_arguments: None,
        };
        Self { call, tool, arguments, digest, report }
    }
}
