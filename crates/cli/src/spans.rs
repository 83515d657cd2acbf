//! Calls as spans of OpenTelemetry, where the environment names a collector and this program was
//! built with the feature `otel`.

use std::future::Future;
use std::io::{self, Write as _};

use counterfoil_guard::Guard;
use counterfoil_proxy::Proxy;

/// Does the work; meanwhile the calls of the guard are sent as spans, where that is wanted.
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
            // Nobody may read standard error; the calls go on all the same.
            writeln!(io::stderr(), "warning: no spans are sent: {error}").ok();
            return work.await;
        }
    };
    let events = guard.events();
    let done = {
        let following = spans.follow(events);
        tokio::pin!(work, following);
        tokio::select! {
            done = &mut work => done,
            // It ends with the guard, which the work has.
            () = &mut following => work.await,
        }
    };
    spans.end().await;
    done
}

/// The same for a proxy: its answers are spans, too.
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
            // Nobody may read standard error; the answers go on all the same.
            writeln!(io::stderr(), "warning: no spans are sent: {error}").ok();
            return work.await;
        }
    };
    let done = {
        let (calls, answers) = (spans.follow(guard.events()), follow(&spans, proxy));
        tokio::pin!(work, calls, answers);
        tokio::select! {
            done = &mut work => done,
            // They end with what the work has.
            () = &mut calls => work.await,
            () = &mut answers => work.await,
        }
    };
    spans.end().await;
    done
}

/// The same for a proxy.
#[cfg(not(feature = "otel"))]
pub(crate) async fn beside_proxy<T>(guard: &Guard, _: &Proxy, work: impl Future<Output = T>) -> T {
    beside(guard, true, work).await
}

/// Does the work, and says where spans are wanted that this build cannot send.
#[cfg(not(feature = "otel"))]
pub(crate) async fn beside<T>(_: &Guard, _: bool, work: impl Future<Output = T>) -> T {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("OTEL_EXPORTER_OTLP_ENDPOINT") || set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
        let told = "note: no spans are sent: this build lacks the feature `otel`";
        // Nobody may read standard error; the calls go on all the same.
        writeln!(io::stderr(), "{told}").ok();
    }
    work.await
}
