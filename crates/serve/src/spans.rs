//! Calls as OpenTelemetry spans, named by the conventions for generative AI and MCP.
//!
//! A span is built from a guard's events: it begins when the receipt is opened and ends when it is
//! closed. Arguments and results are left out; the receipt has them.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use counterfoil_guard::{CallEvent, CallName, ToolEvent};
use counterfoil_model::{Origin, Status, ToolErrorCategory};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, Status as SpanStatus,
    TraceContextExt as _, TraceFlags, TraceId, TraceState, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{
    ExporterBuildError, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span};
use tokio::runtime::Handle;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::upstream::Connector;

/// Maximum number of open calls with spans; further ones have none.
const MOST: usize = 10_000;

/// Time limit for a collector.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The source of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpansOf {
    /// A gateway: MCP clients make the calls, servers execute them.
    Gateway,
    /// A guard's own tools.
    Tools,
}

/// Sends spans to a collector over HTTP, as configured by `OTEL_EXPORTER_OTLP_ENDPOINT` and similar
/// variables.
#[derive(Debug)]
pub struct Spans {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    of: SpansOf,
}

/// Whether the environment names a collector.
#[must_use]
pub fn are_wanted() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    set("OTEL_EXPORTER_OTLP_ENDPOINT") || set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
}

impl Spans {
    /// Sends spans where the environment says. Requires a runtime, on which they are sent.
    ///
    /// # Errors
    /// When the environment contains an invalid setting.
    pub fn from_environment(of: SpansOf) -> Result<Self, ExporterBuildError> {
        let client = Sender { runtime: Handle::current() };
        let exporter = SpanExporter::builder().with_http().with_http_client(client).build()?;
        Ok(Self::by(of, exporter))
    }

    /// Sends spans to this address. Requires a runtime, on which they are sent.
    ///
    /// # Errors
    /// When the address is invalid.
    pub fn to(of: SpansOf, address: &str) -> Result<Self, ExporterBuildError> {
        let client = Sender { runtime: Handle::current() };
        let exporter = SpanExporter::builder().with_http().with_http_client(client);
        Ok(Self::by(of, exporter.with_endpoint(address).build()?))
    }

    fn by(of: SpansOf, exporter: SpanExporter) -> Self {
        let named = std::env::var_os("OTEL_SERVICE_NAME").is_some();
        let resource = Resource::builder();
        let resource = if named { resource } else { resource.with_service_name("counterfoil") };
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .build();
        let tracer = provider.tracer("counterfoil");
        Self { provider, tracer, of }
    }

    /// Creates spans from events for as long as the future is polled.
    pub async fn follow(&self, mut events: Receiver<CallEvent>) {
        let mut open = HashMap::new();
        loop {
            match events.recv().await {
                Ok(event) => self.take(event, &mut open),
                Err(RecvError::Lagged(missed)) => {
                    tracing::warn!(
                        "{missed} call events are missing from the spans, because they came too \
                         fast"
                    );
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// The tracer, for callers that send spans of their own.
    #[must_use]
    pub fn tracer(&self) -> &SdkTracer {
        &self.tracer
    }

    fn take(&self, CallEvent { call, what, .. }: CallEvent, open: &mut HashMap<String, Span>) {
        match what {
            ToolEvent::Opened if open.len() < MOST => {
                open.insert(call.execution_id.clone(), self.begin(&call));
            }
            ToolEvent::Closed { status, category } => {
                if let Some(span) = open.remove(&call.execution_id) {
                    end(span, status, category, self.kind(&call));
                }
            }
            ToolEvent::Rejected { status, .. } => {
                end(self.begin(&call), status, None, self.kind(&call));
            }
            _ => {}
        }
    }

    /// The kind of a span. A call over MCP has one span, not two.
    fn kind(&self, call: &CallName) -> SpanKind {
        match (self.of, &call.origin) {
            (SpansOf::Gateway, _) => SpanKind::Server,
            (SpansOf::Tools, Origin::Mcp { .. }) => SpanKind::Client,
            (SpansOf::Tools, _) => SpanKind::Internal,
        }
    }

    fn begin(&self, call: &CallName) -> Span {
        let kind = self.kind(call);
        let mcp = kind != SpanKind::Internal;
        let name = if mcp { "tools/call" } else { "execute_tool" };
        let mut attributes = vec![
            KeyValue::new("gen_ai.operation.name", "execute_tool"),
            KeyValue::new("gen_ai.tool.name", call.tool.clone()),
            KeyValue::new("gen_ai.conversation.id", call.session.clone()),
            KeyValue::new("counterfoil.execution_id", call.execution_id.clone()),
        ];
        if mcp {
            attributes.push(KeyValue::new("mcp.method.name", "tools/call"));
        }
        if kind == SpanKind::Server {
            attributes.push(KeyValue::new("jsonrpc.request.id", call.call_id.clone()));
        } else if !call.call_id.is_empty() {
            attributes.push(KeyValue::new("gen_ai.tool.call.id", call.call_id.clone()));
        }
        if let Some(caller) = &call.caller {
            attributes.push(KeyValue::new("gen_ai.agent.id", caller.clone()));
        }
        let span = SpanBuilder::from_name(format!("{name} {}", call.tool));
        let span = span.with_kind(kind).with_attributes(attributes);
        self.tracer.build_with_context(span, &parent(call))
    }

    /// Sends the remaining spans. Waits for the collector, but not for long.
    pub async fn end(self) {
        let ended = tokio::task::spawn_blocking(move || self.provider.shutdown()).await;
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!("not all spans were sent: {error}"),
            Err(error) => tracing::warn!("not all spans were sent: {error}"),
        }
    }
}

/// The caller's span, if it was given.
fn parent(call: &CallName) -> Context {
    let Some(trace) = &call.trace else { return Context::new() };
    let mut fields = trace.as_str().split('-').skip(1);
    let mut next = || fields.next().unwrap_or_default();
    let trace = TraceId::from_hex(next()).unwrap_or(TraceId::INVALID);
    let span = SpanId::from_hex(next()).unwrap_or(SpanId::INVALID);
    let sampled = u8::from_str_radix(next(), 16).is_ok_and(|flags| flags & 1 == 1);
    let flags = if sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let remote = SpanContext::new(trace, span, flags, true, TraceState::default());
    Context::new().with_remote_span_context(remote)
}

fn end(mut span: Span, status: Status, category: Option<ToolErrorCategory>, kind: SpanKind) {
    if !status.succeeded() {
        let what = match (kind, category) {
            (SpanKind::Internal, Some(category)) => category.name(),
            (SpanKind::Internal, None) => status.name(),
            _ => "tool_error",
        };
        span.set_attribute(KeyValue::new("error.type", what));
        span.set_status(SpanStatus::error(status.name()));
    }
    span.set_attribute(KeyValue::new("counterfoil.status", status.name()));
    span.end();
}

/// Sends requests over our own connections. The exporter has its own thread, so requests run on the
/// runtime.
#[derive(Debug, Clone)]
struct Sender {
    runtime: Handle,
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sending = async move {
            let client = Client::builder(TokioExecutor::new()).build(Connector::default());
            let response = client.request(request.map(Full::new)).await?;
            let (parts, body) = response.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok::<_, HttpError>(Response::from_parts(parts, body))
        };
        // The timeout also needs the runtime's clock.
        let sending = async move { tokio::time::timeout(TIMEOUT, sending).await? };
        self.runtime.spawn(sending).await?
    }
}
