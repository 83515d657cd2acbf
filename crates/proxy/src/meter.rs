//! Measures the cost of answers that are not judged, for requests with a proxy key.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use counterfoil_providers::Usage;
use http_body_util::BodyExt as _;
use hyper::body::Frame;
use serde_json::Value;

use crate::forward::Body;
use crate::options::ProxySettings;

/// The number of bytes that are kept of the beginning and of the end of an answer, where it reports
/// its cost.
const ENDS: usize = 16 * 1024;

/// The approximate number of bytes per token.
const TOKEN: usize = 4;

/// Measures one exchange, and counts it when dropped.
pub(crate) struct Meter {
    settings: Arc<ProxySettings>,
    key: String,
    request_bytes: Arc<AtomicUsize>,
    answered: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Meter {
    /// Creates a meter for an exchange with this key. Returns it with the request body, which is
    /// counted as it is sent.
    pub(crate) fn new(settings: &Arc<ProxySettings>, key: &str, request: Body) -> (Self, Body) {
        let request_bytes: Arc<AtomicUsize> = Arc::default();
        let count = Arc::clone(&request_bytes);
        let request = request.map_frame(move |frame| {
            count.fetch_add(frame.data_ref().map_or(0, |data| data.len()), Ordering::Relaxed);
            frame
        });
        let meter = Self {
            settings: Arc::clone(settings),
            key: key.to_owned(),
            request_bytes,
            answered: 0,
            head: Vec::new(),
            tail: Vec::new(),
        };
        (meter, request.boxed_unsync())
    }

    /// Reads the answer as it passes.
    pub(crate) fn along(mut self, answer: Body) -> Body {
        let along = move |frame: Frame<hyper::body::Bytes>| {
            if let Some(data) = frame.data_ref() {
                self.read(data);
            }
            frame
        };
        answer.map_frame(along).boxed_unsync()
    }

    fn read(&mut self, data: &[u8]) {
        self.answered += data.len();
        let room = ENDS.saturating_sub(self.head.len()).min(data.len());
        self.head.extend_from_slice(data.get(..room).unwrap_or_default());
        self.tail.extend_from_slice(data);
        if self.tail.len() > 2 * ENDS {
            self.tail.drain(..self.tail.len() - ENDS);
        }
    }

    /// The cost, as reported by the answer, or estimated.
    fn usage(&self) -> Usage {
        let reported = usage_in(&self.tail).or_else(|| usage_in(&self.head));
        let about = |bytes: usize| (bytes / TOKEN) as u64;
        reported.unwrap_or_else(|| Usage {
            input: about(self.request_bytes.load(Ordering::Relaxed)),
            output: about(self.answered),
            cached: 0,
        })
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(key) = self.settings.key(&self.key) {
            key.spend(self.usage());
        }
    }
}

/// The last `usage` object with a value.
fn usage_in(bytes: &[u8]) -> Option<Usage> {
    const NAME: &[u8] = b"\"usage\"";
    let at = memchr::memmem::rfind(bytes, NAME)?;
    let rest = bytes.get(at + NAME.len()..)?;
    let rest = rest.get(rest.iter().position(|byte| *byte == b'{')?..)?;
    let found = serde_json::Deserializer::from_slice(rest).into_iter::<Value>().next()?.ok()?;
    let number = |names: [&str; 2]| names.iter().find_map(|name| found.get(*name)?.as_u64());
    let input =
        number(["prompt_tokens", "input_tokens"]).or_else(|| number(["total_tokens"; 2]))?;
    let output = number(["completion_tokens", "output_tokens"]).unwrap_or_default();
    Some(Usage { input, output, cached: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_cost_is_read_from_its_ends() {
        for (answer, expected) in [
            ("{\"data\":[],\"usage\":{\"prompt_tokens\":8,\"total_tokens\":8}}", Some((8, 0))),
            ("{\"usage\": {\"prompt_tokens\":8,\"completion_tokens\":2}, \"x\":1}", Some((8, 2))),
            ("data: {\"usage\":null}\n\ndata: {\"usage\":{\"total_tokens\":3}}\n\n", Some((3, 0))),
            ("{\"usage\":null}", None),
            ("nothing", None),
        ] {
            let found = usage_in(answer.as_bytes()).map(|usage| (usage.input, usage.output));
            assert_eq!(found, expected, "{answer}");
        }
    }
}
