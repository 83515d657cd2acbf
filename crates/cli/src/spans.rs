//! Sends calls as OpenTelemetry spans, if the environment names a collector and this program is
//! built with the feature `otel`.

use std::future::Future;
use std::io::{self, Write as _};

use counterfoil_guard::Guard;
use counterfoil_proxy::Proxy;

/// Runs `work`, and meanwhile sends the guard's calls as spans if enabled.
#[cfg(feature = "otel")]
pub(crate) async fn beside<T>(guard: &Guard, hosted: bool, work: impl Future<Output = T>) -> T {
    use counterfoil_serve::spans::{Spans, SpansOf, are_wanted};
    if !are_wanted() {
        return work.await;
    }
    let of = if hosted { SpansOf::Gateway } else { SpansOf::Tools };
    let spans = match Spans::from_environment(of) {
        Ok(spans) => spans,
        Err(error) => {
            // Standard error may be closed; the calls continue.
            writeln!(io::stderr(), "warning: OpenTelemetry spans will not be sent: {error}").ok();
            return work.await;
        }
    };
    let events = guard.events();
    let done = {
        let following = spans.follow(events);
        tokio::pin!(work, following);
        tokio::select! {
            done = &mut work => done,
            // The events end with the guard, which `work` holds.
            () = &mut following => work.await,
        }
    };
    spans.end().await;
    done
}

/// Like [`beside`], for a proxy, whose answers are spans too.
#[cfg(feature = "otel")]
pub(crate) async fn beside_proxy<T>(
    guard: &Guard,
    proxy: &Proxy,
    work: impl Future<Output = T>,
) -> T {
    use counterfoil_proxy::spans::follow;
    use counterfoil_serve::spans::{Spans, are_wanted};
    if !are_wanted() {
        return work.await;
    }
    let spans = match Spans::from_environment(counterfoil_serve::spans::SpansOf::Tools) {
        Ok(spans) => spans,
        Err(error) => {
            // Standard error may be closed; the answers continue.
            writeln!(io::stderr(), "warning: OpenTelemetry spans will not be sent: {error}").ok();
            return work.await;
        }
    };
    let done = {
        let (calls, answers) = (spans.follow(guard.events()), follow(&spans, proxy));
        tokio::pin!(work, calls, answers);
        tokio::select! {
            done = &mut work => done,
            // The events end with the guard and the proxy, which `work` holds.
            () = &mut calls => work.await,
            () = &mut answers => work.await,
        }
    };
    spans.end().await;
    done
}

/// Like [`beside`], for a proxy.
#[cfg(not(feature = "otel"))]
pub(crate) async fn beside_proxy<T>(guard: &Guard, _: &Proxy, work: impl Future<Output = T>) -> T {
    beside(guard, true, work).await
}

/// Runs `work`, and prints a note if spans are enabled but not supported by this build.
#[cfg(not(feature = "otel"))]
pub(crate) async fn beside<T>(_: &Guard, _: bool, work: impl Future<Output = T>) -> T {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("OTEL_EXPORTER_OTLP_ENDPOINT") || set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
        let note = "note: OpenTelemetry spans are not sent: this build lacks the feature `otel`";
        // Standard error may be closed; the calls continue.
        writeln!(io::stderr(), "{note}").ok();
    }
    work.await
}
