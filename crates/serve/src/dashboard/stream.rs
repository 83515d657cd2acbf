//! Live updates as server-sent events: every event of the ledger, with its position as its id, so
//! that a reader can resume after an interruption.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::stream;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Bytes, Frame};
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Response, StatusCode};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use super::Dashboard;
use super::news::News;
use super::problem::HttpProblem;
use super::request::Fields;
use crate::http::Answer;

/// How often an idle stream sends a comment, so that proxies do not close it.
const STILL_THERE: Duration = Duration::from_secs(15);

/// Maximum number of readers in total, and per name.
const MOST: usize = 64;
const MOST_OF_ONE: usize = 16;

/// Maximum number of missed events that are sent to a reader; one that missed more has to reload.
const MISSED: u64 = 500;

/// A stream that continues after the last event the reader received.
pub(super) fn stream(
    dashboard: Arc<Dashboard>,
    head: Parts,
    query: &Fields,
    name: &str,
) -> Result<Answer, HttpProblem> {
    if head.method != Method::GET {
        return Err(HttpProblem::method(vec![Method::GET]));
    }
    let last = match head.headers.get("last-event-id") {
        Some(value) => Some(value.to_str().unwrap_or_default()),
        None => query.one("after")?,
    };
    let last = last.filter(|text| !text.is_empty()).map(|text| {
        let digits = text.len() < 20 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u64>().ok().filter(|_| digits)
    });
    let last = match last {
        Some(None) => return Err(HttpProblem::bad("the last event's id must be an integer")),
        last => last.flatten(),
    };
    let place = Place::take(Arc::clone(&dashboard), name)?;
    let news = dashboard.news.subscribe();
    let next = last.map(|last| last.saturating_add(1));
    let waiting = VecDeque::from(["retry: 3000\n\n".to_owned()]);
    let reader =
        Reader { place, headers: head.headers, news, next, must_catch_up: last.is_some(), waiting };
    let pieces = stream::unfold(reader, |mut reader| async move {
        let text = reader.next().await?;
        Some((Ok(Frame::data(Bytes::from(text))), reader))
    });
    let mut response = Response::new(StreamBody::new(pieces).boxed_unsync());
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// A reader's slot, which is released on drop.
struct Place {
    dashboard: Arc<Dashboard>,
    /// The reader's name.
    name: String,
}

impl Place {
    fn take(dashboard: Arc<Dashboard>, name: &str) -> Result<Self, HttpProblem> {
        let mut open = dashboard.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, own) = (open.values().sum::<usize>(), open.get(name).copied().unwrap_or(0));
        if all >= MOST || own >= MOST_OF_ONE {
            let (many, whose) = if all >= MOST { (MOST, "") } else { (MOST_OF_ONE, " of yours") };
            let what = format!("{many} streams{whose} are already open: close one");
            return Err(HttpProblem::new(StatusCode::TOO_MANY_REQUESTS, what));
        }
        *open.entry(name.to_owned()).or_default() += 1;
        drop(open);
        Ok(Self { dashboard, name: name.to_owned() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.dashboard.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.name) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.name);
            }
        }
    }
}

/// A live reader.
struct Reader {
    place: Place,
    /// The headers of the request, to end the stream when the reader signs out.
    headers: HeaderMap,
    news: Receiver<News>,
    /// The seq of the next event; any if `None`.
    next: Option<u64>,
    /// Whether missed events must be read from the ledger first.
    must_catch_up: bool,
    waiting: VecDeque<String>,
}

impl Reader {
    /// The next piece of the stream; `None` when the process ends.
    async fn next(&mut self) -> Option<String> {
        if let Some(text) = self.waiting.pop_front() {
            return Some(text);
        }
        if std::mem::take(&mut self.must_catch_up) {
            self.read_missed().await;
            if let Some(text) = self.waiting.pop_front() {
                return Some(text);
            }
        }
        let mut stopping = self.place.dashboard.stopping.subscribe();
        loop {
            let news = tokio::select! {
                news = timeout(STILL_THERE, self.news.recv()) => news,
                _ = stopping.wait_for(|stopping| *stopping) => return None,
            };
            let dashboard = &self.place.dashboard;
            dashboard.visitors.visitor(&self.headers, true, dashboard.now())?;
            match news {
                Err(_) => return Some(": still here\n\n".to_owned()),
                Ok(Err(RecvError::Closed)) => return None,
                Ok(Err(RecvError::Lagged(_))) => return Some(RESET.to_owned()),
                Ok(Ok(news)) if self.next.is_some_and(|next| news.seq < next) => {}
                Ok(Ok(news)) => {
                    self.next = Some(news.seq.saturating_add(1));
                    return Some(written(&news));
                }
            }
        }
    }

    async fn read_missed(&mut self) {
        let Some(next) = self.next else { return };
        // A higher id must come from another ledger.
        if next > self.place.dashboard.known().next() {
            self.next = None;
            self.waiting.push_back(RESET.to_owned());
            return;
        }
        let dashboard = Arc::clone(&self.place.dashboard);
        let read =
            tokio::task::spawn_blocking(move || dashboard.ledger().events_from(next, MISSED + 1));
        match read.await {
            Ok(Ok(events)) if events.len() as u64 <= MISSED => {
                for event in &events {
                    self.waiting.push_back(written(&News::from_event(event)));
                    self.next = Some(event.seq.saturating_add(1));
                }
            }
            _ => self.waiting.push_back(RESET.to_owned()),
        }
    }
}

/// Tells the reader to reload everything because it missed events.
const RESET: &str = "event: reset\ndata: {}\n\n";

fn written(news: &News) -> String {
    let json = serde_json::to_string(news).unwrap_or_default();
    format!("id: {}\nevent: ledger\ndata: {json}\n\n", news.seq)
}
