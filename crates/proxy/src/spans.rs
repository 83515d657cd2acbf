//! OpenTelemetry spans for answers, in addition to those for calls: one per exchange, whatever its
//! outcome. They contain no content.

use std::time::{Duration, UNIX_EPOCH};

use counterfoil_serve::spans::Spans;
use opentelemetry::trace::{Span as _, SpanBuilder, SpanKind, Status as SpanStatus, Tracer as _};
use opentelemetry::{Context, KeyValue};
use tokio::sync::broadcast::error::RecvError;

use crate::Proxy;
use crate::seen::Exchanged;

/// Creates spans for the answers of a proxy, until the future is dropped.
pub async fn follow(spans: &Spans, proxy: &Proxy) {
    let mut exchanges = proxy.exchanges();
    loop {
        match exchanges.recv().await {
            Ok(answered) => exchanged(spans, &answered),
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!("{missed} answers have no spans, because they came too fast");
            }
            Err(RecvError::Closed) => return,
        }
    }
}

fn exchanged(spans: &Spans, exchanged: &Exchanged) {
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let provider = if exchanged.wire == "messages" { "anthropic" } else { "openai" };
    let mut attributes = vec![
        KeyValue::new("gen_ai.operation.name", "chat"),
        KeyValue::new("gen_ai.provider.name", provider),
        KeyValue::new("gen_ai.request.model", exchanged.model.clone()),
        KeyValue::new("gen_ai.conversation.id", exchanged.session.clone()),
        KeyValue::new("gen_ai.usage.input_tokens", number(exchanged.input_tokens)),
        KeyValue::new("gen_ai.usage.output_tokens", number(exchanged.output_tokens)),
        KeyValue::new("http.response.status_code", i64::from(exchanged.status)),
        KeyValue::new("counterfoil.became", exchanged.became),
    ];
    if !exchanged.findings.is_empty() {
        attributes.push(KeyValue::new("counterfoil.findings", exchanged.findings.join(", ")));
    }
    let ended = UNIX_EPOCH + Duration::from_millis(exchanged.at);
    let began = ended - Duration::from_millis(exchanged.took);
    let span = SpanBuilder::from_name(format!("chat {}", exchanged.model));
    let span = span.with_kind(SpanKind::Client).with_attributes(attributes);
    let mut span = spans.tracer().build_with_context(span.with_start_time(began), &Context::new());
    if exchanged.status >= 400 {
        span.set_attribute(KeyValue::new("error.type", exchanged.status.to_string()));
        span.set_status(SpanStatus::error(""));
    }
    span.end_with_timestamp(ended);
}
