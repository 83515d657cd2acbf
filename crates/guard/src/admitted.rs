use counterfoil_admission::CallReport;
use counterfoil_model::{Digest, ExactValue, Tool, ToolCall, canonical_bytes_of};
use serde_json::Value;

/// A call that passed admission. Only admission can create one.
///
/// It keeps the call as the model wrote it, and next to it the arguments that will run.
#[derive(Debug, Clone)]
pub struct Admitted {
    call: ToolCall,
    tool: Tool,
    arguments: ExactValue,
    digest: Digest,
    report: CallReport,
}

impl Admitted {
    /// Creates an admitted call if `report` has no blocking issue. `tool` is the resolved tool.
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

    /// The arguments that will run, as a plain JSON object, for read-only use.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The arguments that will run, with every number kept exactly as written. These are the
    /// arguments that are shown, recorded and executed.
    #[must_use]
    pub fn exact_arguments(&self) -> &ExactValue {
        &self.arguments
    }

    /// The digest of the canonical `{tool, arguments}` that will run. Approvals are bound to it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The report of admission, mainly its warnings.
    #[must_use]
    pub fn report(&self) -> &CallReport {
        &self.report
    }
}

/// Returns the digest of the canonical `{tool, arguments}`, in form 2: calls whose arguments differ
/// in any digit have different digests.
pub(crate) fn call_digest(tool: &str, arguments: &ExactValue) -> Digest {
    #[derive(serde::Serialize)]
    struct Called<'c> {
        arguments: &'c ExactValue,
        tool: &'c str,
    }
    let bytes = canonical_bytes_of(&Called { arguments, tool });
    // Serializing a value and a string cannot fail.
    debug_assert!(bytes.is_ok());
    Digest::of_bytes(&bytes.unwrap_or_default())
}

/// Creates admitted calls without admission, for tests of executors and gates.
#[cfg(any(test, feature = "permits-for-tests"))]
impl Admitted {
    /// A call of `tool` with these arguments, as if it had passed admission.
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
