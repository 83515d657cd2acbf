use std::future::Future;
use std::sync::Arc;

use counterfoil_model::{Effects, Tool, ToolErrorCategory};
use counterfoil_tools::{Progress, Scene, ToolError, ToolOutput};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ExecutorId, ExecutorKind, ToolExecutor};
use crate::admitted::Admitted;
use crate::gate::{ByApproval, ByPolicy, Permit};
use crate::ports::BoxFuture;

/// A function of the embedding program as a tool.
///
/// The declared effects of the tool are trusted, because it is the program's own. Only an
/// idempotent tool is retried, and only one that writes nothing runs speculatively.
pub struct FunctionExecutor {
    tool: Tool,
    function: Arc<Function>,
    asks: Option<String>,
    kind: ExecutorKind,
}

type Function =
    dyn Fn(Value, Progress) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;

impl FunctionExecutor {
    /// A tool whose function returns at once. The function gets the arguments, an object. Use
    /// [`FunctionExecutor::waiting`] for slow work.
    pub fn new<R: Into<ToolOutput>>(
        tool: Tool,
        function: impl Fn(&Value) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let function = Arc::new(function);
        Self::waiting(tool, move |arguments: Value| {
            let function = Arc::clone(&function);
            async move { function(&arguments) }
        })
    }

    /// A tool whose arguments are a type of the program. The tool's schema comes from the type, and
    /// a call reaches the function only if its arguments fit.
    ///
    /// ```
    /// use counterfoil_guard::{FunctionExecutor, ToolError};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct City {
    ///     /// The name in English.
    ///     name: String,
    /// }
    ///
    /// let weather = FunctionExecutor::typed("get_weather", "Forecast for a city", |city: City| {
    ///     Ok::<_, ToolError>(format!("sunny in {}", city.name))
    /// });
    /// ```
    pub fn typed<A, R>(
        name: &str,
        description: &str,
        function: impl Fn(A) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        R: Into<ToolOutput>,
    {
        let tool = tool_of::<A>(name, description);
        Self::new(tool, move |arguments: &Value| function(typed(arguments)?))
    }

    /// Like [`FunctionExecutor::typed`], for a function that answers later.
    pub fn typed_waiting<A, R, F>(
        name: &str,
        description: &str,
        function: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: Into<ToolOutput>,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let function = Arc::new(function);
        Self::waiting(tool_of::<A>(name, description), move |arguments: Value| {
            let function = Arc::clone(&function);
            async move { function(typed(&arguments)?).await }
        })
    }

    /// A tool whose function is asynchronous. The future may be dropped before it completes.
    pub fn waiting<R, F>(tool: Tool, function: impl Fn(Value) -> F + Send + Sync + 'static) -> Self
    where
        R: Into<ToolOutput>,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        Self::telling(tool, move |arguments, _| function(arguments))
    }

    /// A tool whose function is asynchronous and reports progress.
    pub fn telling<R, F>(
        tool: Tool,
        function: impl Fn(Value, Progress) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: Into<ToolOutput>,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let function = move |arguments: Value, progress: Progress| -> BoxFuture<'static, _> {
            let answer = function(arguments, progress);
            Box::pin(async move { answer.await.map(Into::into) })
        };
        Self { tool, function: Arc::new(function), asks: None, kind: ExecutorKind::Native }
    }

    /// Declares what calls do, which decides whether they may be repeated or run ahead.
    #[must_use]
    pub fn with_effects(self, effects: Effects) -> Self {
        Self { tool: Tool { effects, ..self.tool }, ..self }
    }

    /// Requires a person's agreement to every call; `why` is the reason that is shown.
    #[must_use]
    pub fn asking(self, why: impl Into<String>) -> Self {
        Self { asks: Some(why.into()), ..self }
    }

    /// Sets the kind of this executor, which determines its place in the order.
    #[must_use]
    pub fn of_kind(self, kind: ExecutorKind) -> Self {
        Self { kind, ..self }
    }

    async fn call(
        &self,
        call: &Admitted,
        progress: &Progress,
    ) -> Result<Option<ToolOutput>, ToolError> {
        if !self.owns(&call.tool().name) {
            return Ok(None);
        }
        if let Some((pointer, digits)) = call.exact_arguments().long_number() {
            let message = format!(
                "the number {digits} at `{pointer}` has more digits than this tool can handle; \
                 pass it as a string if the tool accepts one"
            );
            return Err(ToolError::new(ToolErrorCategory::InvalidParameters, message));
        }
        (self.function)(call.arguments().clone(), progress.clone()).await.map(Some)
    }
}

/// A tool whose parameters are a type.
fn tool_of<A: JsonSchema>(name: &str, description: &str) -> Tool {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.remove("title");
    let description = description.to_owned();
    Tool { description, parameters: Some(schema.to_value()), ..Tool::named(name) }
}

fn typed<A: DeserializeOwned>(arguments: &Value) -> Result<A, ToolError> {
    A::deserialize(arguments).map_err(|error| {
        ToolError::new(ToolErrorCategory::InvalidParameters, format!("invalid arguments: {error}"))
    })
}

impl ToolExecutor for FunctionExecutor {
    fn id(&self) -> ExecutorId {
        ExecutorId::new(self.kind, self.tool.name.clone())
    }

    fn tool_definitions(&self) -> Vec<Tool> {
        vec![self.tool.clone()]
    }

    fn owns(&self, tool: &str) -> bool {
        tool == self.tool.name
    }

    async fn execute_tool_call(
        &self,
        permit: Permit<ByPolicy>,
        _scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.call(permit.call(), permit.progress()).await
    }

    async fn execute_tool_call_confirmed(
        &self,
        permit: Permit<ByApproval>,
        _scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        self.call(permit.call(), permit.progress()).await
    }

    fn requires_confirmation(&self, call: &Admitted, _scene: &Scene<'_>) -> Option<String> {
        if self.owns(&call.tool().name) {
            self.asks.clone()
        } else {
            Some(format!("`{}` does not belong to this executor", call.tool().name))
        }
    }

    fn is_tool_retryable(&self, tool: &str) -> bool {
        self.owns(tool) && self.tool.effects.idempotent == Some(true)
    }

    fn is_tool_speculatable(&self, tool: &str) -> bool {
        self.is_tool_retryable(tool) && self.tool.effects.writes == Some(false)
    }
}
