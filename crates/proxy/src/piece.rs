//! Handles an answer that is not streamed.

use std::sync::Arc;

use counterfoil_guard::without_hidden;
use counterfoil_model::{ExactValue, ToolCall};
use counterfoil_providers::{Reply, whole as read_whole};
use hyper::HeaderMap;
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::conclusion::{Became, Conclusion};
use crate::correct::Corrected;
use crate::exchange::Exchange;
use crate::options::ProxyMode;
use crate::ruling::{Ruling, Words, first_bad};
use crate::shape::{self, Shape, Unreadable};
use crate::wire::Wire;
use crate::{failure, notes};

/// The header in which programs find the findings.
const FOUND: HeaderName = HeaderName::from_static("counterfoil-findings");

/// The maximum length of a header that we write, in bytes.
const LONGEST_HEADER: usize = 4096;

/// The header with the number of corrections.
const CORRECTIONS: HeaderName = HeaderName::from_static("counterfoil-corrections");

/// The answer for the client, and its extra headers.
pub(crate) struct Piece {
    pub(crate) body: Bytes,
    pub(crate) headers: HeaderMap,
}

/// Why the client gets no answer.
pub(crate) struct Withheld(pub(crate) String);

/// Judges an answer, and handles it according to the mode.
pub(crate) async fn answer(
    exchange: &Arc<Exchange>,
    status: u16,
    body: Bytes,
) -> Result<Piece, Withheld> {
    let settings = &exchange.settings;
    let as_it_came = |headers| Piece { body: body.clone(), headers };
    let (reply, parsed, doubt) = match read(exchange, &body).await {
        Ok(read) => read,
        Err(why) => {
            let conclusion = Conclusion { unjudged: Some(why.clone()), ..Conclusion::default() };
            let withheld = settings.withholds();
            let what = conclusion.passed();
            write_down(
                exchange,
                conclusion,
                Became { status, what, withheld, ..Became::default() },
            );
            let unread = || found(&notes::machine(&[], &[], Some(&why)));
            return match (withheld, settings.mode) {
                (true, _) => Err(Withheld(why)),
                (false, ProxyMode::Observe) => Ok(as_it_came(HeaderMap::new())),
                (false, _) => Ok(as_it_came(unread())),
            };
        }
    };
    let response = id_of(&parsed);
    response.iter().for_each(|id| exchange.announce(id));
    let mut became = Became { response, ..Became::from_reply(status, &reply) };
    if settings.mode == ProxyMode::Observe {
        observe(exchange, reply, became);
        return Ok(as_it_came(HeaderMap::new()));
    }
    let conclusion = exchange.conclude(&reply, "", exchange.limit()).await;
    let conclusion = Conclusion { doubt, ..conclusion };
    let piece = match conclusion.ruling(settings) {
        Ruling::Pass => {
            became.what = conclusion.passed();
            let headers = found(&notes_of(&conclusion));
            Ok(match conclusion.calls.stripped {
                false => as_it_came(headers),
                true => stripped(exchange.wire(), parsed, &conclusion, headers),
            })
        }
        Ruling::Withhold(why) => {
            became.withhold();
            became.message.text.clear();
            exchange.not_made(&conclusion.calls.passed).await;
            Err(Withheld(why))
        }
        Ruling::Wrong => {
            Ok(wrong(exchange, &reply, (parsed, &body), &conclusion, &mut became).await)
        }
    };
    write_down(exchange, conclusion, became);
    piece
}

/// Parses the answer. Returns it with its JSON and with the reason why clients may read a different
/// one, or the reason why it cannot be judged.
async fn read(exchange: &Exchange, body: &[u8]) -> Result<(Reply, Value, Option<String>), String> {
    let text = std::str::from_utf8(body).map_err(|_| "the answer is not in UTF-8".to_owned())?;
    let reply = match read_whole(exchange.wire().kind(), text) {
        Ok(reply) => reply,
        Err(error) => return Err(failure::describe(exchange, &error).await),
    };
    if exchange.mode() == ProxyMode::Observe {
        let parsed = serde_json::from_str(text).map_err(|_| "the answer is not JSON".to_owned())?;
        return Ok((reply, parsed, None));
    }
    let doubt = exchange.doubt(text, &reply);
    match doubt {
        Err(why) if exchange.settings.withholds() => Err(why.to_string()),
        Err(why) => {
            let parsed = serde_json::from_str(text).map_err(|_| why.to_string())?;
            Ok((reply, parsed, Some(why.to_string())))
        }
        Ok((parsed, shape)) => {
            let wrong = match exchange.settings.withholds() {
                true => failure::remarks(exchange, shape.remarks()).await,
                false => None,
            };
            wrong.map_or(Ok((reply, parsed, None)), Err)
        }
    }
}

impl Exchange {
    /// Parses the JSON of an answer, and checks that clients read it as it was judged.
    pub(crate) fn doubt(&self, text: &str, reply: &Reply) -> Result<(Value, Shape), Unreadable> {
        let parsed = shape::parse(text)?;
        let shape = Shape::whole(self.wire(), &parsed, &self.request)?;
        shape.is_judged(&reply.text, &reply.calls)?;
        Ok((parsed, shape))
    }
}

/// Judges an answer that its client already has.
fn observe(exchange: &Arc<Exchange>, reply: Reply, mut became: Became) {
    let (exchange, proxy) = (Arc::clone(exchange), Arc::clone(&exchange.proxy));
    proxy.spawn(async move {
        let conclusion = exchange.conclude(&reply, "", None).await;
        became.what = conclusion.passed();
        exchange.done(conclusion, became).await;
    });
}

/// Handles an answer with problems. If the mode allows waiting, the model is asked again.
async fn wrong(
    exchange: &Arc<Exchange>,
    reply: &Reply,
    (mut answer, body): (Value, &Bytes),
    conclusion: &Conclusion,
    became: &mut Became,
) -> Piece {
    let wire = exchange.wire();
    if exchange.mode().holds() && conclusion.is_wrong(&exchange.settings) {
        match exchange.corrected(reply, conclusion, "").await {
            Ok(corrected) => {
                became.corrected(&corrected);
                became.message.text.clone_from(&corrected.reply.text);
                if let Some(body) = corrected.body.clone() {
                    return better(exchange, (corrected, body), became);
                }
                // The better answer was streamed, so the body is rewritten.
                wire.replace(&mut answer, &corrected.reply.text);
                wire.with_calls(&mut answer, &corrected.conclusion.calls.passed);
                let headers = corrections(&corrected);
                return Piece { body: Bytes::from(answer.to_string()), headers };
            }
            Err(retries) => became.retried(retries),
        }
    }
    let instead = conclusion.instead(&exchange.settings, exchange.request.structured);
    became.written(&instead);
    if !conclusion.is_wrong(&exchange.settings) {
        became.what = conclusion.passed();
    }
    let headers = found(&instead.report);
    match &instead.words {
        Words::Beneath(words) if words.is_empty() && instead.same_calls => {
            return Piece { body: body.clone(), headers };
        }
        Words::Beneath(words) => {
            became.message.text.push_str(words);
            wire.append(&mut answer, words);
        }
        Words::Until(words) => {
            let cut = first_bad(&reply.text, &conclusion.bad(exchange.settings.least));
            let before = reply.text.get(..cut).unwrap_or_default();
            became.message.text = format!("{before}{words}");
            wire.replace(&mut answer, &became.message.text);
        }
        Words::Refused(words) => {
            became.message.text.clone_from(words);
            wire.refuse(&mut answer, words);
        }
    }
    if !instead.same_calls {
        wire.with_calls(&mut answer, &instead.calls);
    }
    Piece { body: written(answer, &reply.calls), headers }
}

/// The corrected answer.
fn better(
    exchange: &Exchange,
    (corrected, body): (Corrected, Bytes),
    became: &mut Became,
) -> Piece {
    let headers = corrections(&corrected);
    // It was parsed as JSON before.
    let parsed: Value = serde_json::from_slice(&body).unwrap_or_default();
    // It has its own id.
    became.response = id_of(&parsed);
    became.response.iter().for_each(|id| exchange.announce(id));
    match corrected.conclusion.calls.stripped {
        false => Piece { body, headers },
        true => stripped(exchange.wire(), parsed, &corrected.conclusion, headers),
    }
}

/// Headers with the findings in the answer that is sent, and with how often the model was asked
/// again.
fn corrections(corrected: &Corrected) -> HeaderMap {
    let mut headers = found(&notes_of(&corrected.conclusion));
    headers.insert(CORRECTIONS, HeaderValue::from(corrected.retries.times));
    headers
}

/// The server's id for an answer.
fn id_of(answer: &Value) -> Option<String> {
    answer.get("id").and_then(Value::as_str).map(str::to_owned)
}

fn stripped(wire: Wire, mut answer: Value, conclusion: &Conclusion, headers: HeaderMap) -> Piece {
    wire.with_calls(&mut answer, &conclusion.calls.passed);
    Piece { body: written(answer, &conclusion.calls.passed), headers }
}

/// Serializes a changed answer. Arguments that are objects keep every number as the model wrote it.
fn written(answer: Value, calls: &[ToolCall]) -> Bytes {
    let mut exact = ExactValue::from(answer);
    for (pointer, id) in inputs(&exact) {
        let visible = calls.iter().find(|call| call.id == id).cloned().map(without_hidden);
        if let Some(input) = visible.and_then(|call| call.arguments.exact().ok()) {
            exact.set(&pointer, input);
        }
    }
    Bytes::from(exact.to_string())
}

/// The JSON Pointers of arguments that are objects, each with the id of its call.
fn inputs(answer: &Value) -> Vec<(String, String)> {
    let blocks = answer.get("content").and_then(Value::as_array).into_iter().flatten().enumerate();
    let text = |block: &Value, name: &str| block.get(name)?.as_str().map(str::to_owned);
    let calls = blocks.filter(|(_, block)| {
        text(block, "type").is_some_and(|kind| kind == "tool_use")
            && block.get("input").is_some_and(Value::is_object)
    });
    calls
        .filter_map(|(at, block)| Some((format!("/content/{at}/input"), text(block, "id")?)))
        .collect()
}

/// The findings in an answer that is passed on, for programs.
fn notes_of(conclusion: &Conclusion) -> Value {
    let Conclusion { findings, calls, unjudged, .. } = conclusion;
    notes::machine(findings, &calls.refused, unjudged.as_deref())
}

/// The findings as a header.
pub(crate) fn found(report: &Value) -> HeaderMap {
    let mut headers = HeaderMap::new();
    // Headers have a maximum length.
    let mut line = notes::one_line(report);
    if line.len() > LONGEST_HEADER {
        let count = report.get("findings").and_then(Value::as_array).map_or(0, Vec::len);
        line = format!("{{\"findings\":{count},\"too_long\":true}}");
    }
    if let Ok(value) = HeaderValue::from_str(&line) {
        headers.insert(FOUND, value);
    }
    headers
}

fn write_down(exchange: &Arc<Exchange>, conclusion: Conclusion, became: Became) {
    let exchange = Arc::clone(exchange);
    let proxy = Arc::clone(&exchange.proxy);
    proxy.spawn(async move { exchange.done(conclusion, became).await });
}
