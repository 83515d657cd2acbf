//! An answer that comes in one piece.

use std::sync::Arc;

use counterfoil_model::Subject;
use counterfoil_providers::whole as read_whole;
use hyper::HeaderMap;
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;

use super::calls::RefusedCall;
use super::exchange::{Became, Conclusion, Exchange, Said};
use super::judge::sentence_start;
use super::notes;
use super::options::ProxyMode;
use super::wire::Wire;

/// The header in which programs read what was found.
const FOUND: HeaderName = HeaderName::from_static("counterfoil-findings");

/// How often the model was asked again.
const CORRECTIONS: HeaderName = HeaderName::from_static("counterfoil-corrections");

/// The answer for the client, and what is said beside it.
pub(super) struct Piece {
    pub(super) body: Bytes,
    pub(super) headers: HeaderMap,
}

/// Why there is no answer for the client.
pub(super) struct Withheld(pub(super) String);

/// Judges an answer, and does with it what the mode says.
pub(super) async fn answer(
    exchange: &Arc<Exchange>,
    status: u16,
    body: Bytes,
) -> Result<Piece, Withheld> {
    let wire = exchange.wire();
    let text = std::str::from_utf8(&body).map_err(|error| error.to_string());
    let reply = text.and_then(|text| read_whole(wire.kind(), text).map_err(|e| e.to_string()));
    let as_it_came = |headers| Piece { body: body.clone(), headers };
    let settings = &exchange.settings;
    let holds = settings.withholds();
    let mut became = Became { status, what: "passed", ..Became::default() };
    let parsed = serde_json::from_slice::<Value>(&body);
    let read = match (reply, parsed) {
        (Ok(reply), Ok(parsed)) => match exchange.unaccounted(&parsed, &reply) {
            Some(why) if holds => Err(why),
            _ => Ok((reply, parsed)),
        },
        (Err(why), _) => Err(why),
        (_, Err(error)) => Err(error.to_string()),
    };
    let (reply, parsed) = match read {
        Ok(read) => read,
        Err(why) => {
            let conclusion = Conclusion { unjudged: Some(why.clone()), ..Conclusion::default() };
            became.what = "not judged";
            became.withheld = holds;
            write_down(exchange, conclusion, became);
            return if holds { Err(Withheld(why)) } else { Ok(as_it_came(HeaderMap::new())) };
        }
    };
    became.usage = reply.usage;
    became.judged.clone_from(&reply.text);
    became.said = Said { text: reply.text.clone(), calls: reply.calls.clone() };
    became.response = parsed.get("id").and_then(Value::as_str).map(str::to_owned);
    if settings.mode == ProxyMode::Observe {
        let exchange = Arc::clone(exchange);
        let proxy = Arc::clone(&exchange.proxy);
        proxy.spawn(async move {
            let conclusion = exchange.conclude(&reply, "", None).await;
            became.what = conclusion.passed();
            exchange.done(conclusion, became).await;
        });
        return Ok(as_it_came(HeaderMap::new()));
    }
    let limit = if settings.mode.holds() { exchange.limit() } else { Some(settings.verify) };
    let conclusion = exchange.conclude(&reply, "", limit).await;
    if let Some(why) = conclusion.unjudged.clone().filter(|_| holds) {
        became.what = "not judged";
        (became.withheld, became.said) = (true, Said::default());
        exchange.not_made(&conclusion.calls.passed).await;
        write_down(exchange, conclusion, became);
        return Err(Withheld(why));
    }
    let bad = conclusion.bad(settings.least);
    if bad.is_empty() && conclusion.calls.refused.is_empty() {
        became.what = conclusion.passed();
        let headers = found(&conclusion, false);
        let piece = match conclusion.calls.stripped {
            false => as_it_came(headers),
            true => stripped(wire, parsed, &conclusion, headers),
        };
        write_down(exchange, conclusion, became);
        return Ok(piece);
    }
    let piece = worse(exchange, &reply, parsed, &conclusion, &mut became).await;
    // It may be another one.
    let parsed: Value = serde_json::from_slice(&piece.body).unwrap_or_default();
    became.response = parsed.get("id").and_then(Value::as_str).map(str::to_owned);
    write_down(exchange, conclusion, became);
    Ok(piece)
}

/// Something is wrong with the answer.
async fn worse(
    exchange: &Arc<Exchange>,
    reply: &counterfoil_providers::Reply,
    mut answer: Value,
    conclusion: &Conclusion,
    became: &mut Became,
) -> Piece {
    let wire = exchange.wire();
    let mut headers = found(conclusion, exchange.mode() == ProxyMode::Block);
    if exchange.mode().holds() {
        match exchange.corrected(reply, conclusion, "").await {
            Ok(corrected) => {
                became.what = "corrected";
                became.corrections = corrected.asked.times;
                became.usage += corrected.asked.usage;
                became.better = Some(corrected.conclusion.findings.clone());
                let calls = corrected.conclusion.calls.passed.clone();
                became.said = Said { text: corrected.reply.text.clone(), calls };
                headers.insert(CORRECTIONS, HeaderValue::from(corrected.asked.times));
                let body = corrected.body.unwrap_or_default();
                if !corrected.conclusion.calls.stripped {
                    return Piece { body, headers };
                }
                let parsed = serde_json::from_slice(&body).unwrap_or_default();
                return stripped(wire, parsed, &corrected.conclusion, headers);
            }
            Err(asked) => {
                became.corrections = asked.times;
                became.usage += asked.usage;
            }
        }
    }
    let bad = conclusion.bad(exchange.settings.least);
    let refused = &conclusion.calls.refused;
    let structured = exchange.asked.structured;
    let mut calls = conclusion.calls.passed.clone();
    if exchange.mode() == ProxyMode::Block {
        became.what = "held";
        became.withheld = true;
        if structured && !bad.is_empty() {
            wire.refuse(&mut answer, &notes::notice(&bad));
            calls.clear();
        } else {
            let said = kept_words(&reply.text, &bad, refused);
            became.said.text.clone_from(&said);
            wire.replace(&mut answer, &said);
        }
    } else {
        became.what = "annotated";
        if !structured {
            let note = notes::footnotes(&bad, refused);
            became.said.text.push_str(&note);
            wire.append(&mut answer, &note);
        }
        let holds = exchange.mode().holds();
        let others = refused.iter().filter(|refused| !(holds && refused.denied));
        calls.extend(others.map(|refused| refused.call.clone()));
    }
    if !refused.is_empty() || conclusion.calls.stripped || calls.len() != reply.calls.len() {
        wire.with_calls(&mut answer, &calls);
    }
    became.said.calls = calls;
    Piece { body: Bytes::from(answer.to_string()), headers }
}

/// The words in front of the first bad claim, and what stands in the place of the rest.
fn kept_words(text: &str, bad: &[counterfoil_model::Finding], refused: &[RefusedCall]) -> String {
    let start = bad.iter().filter_map(|finding| match &finding.subject {
        Subject::Claim { span, .. } => Some(sentence_start(text, span.start)),
        Subject::Call(_) => None,
    });
    let cut = start.min().unwrap_or(text.len());
    let mut kept = text.get(..cut).unwrap_or_default().to_owned();
    if !bad.is_empty() {
        kept.push_str(&notes::notice(bad));
    }
    kept.push_str(&notes::no_calls(refused));
    kept
}

fn stripped(wire: Wire, mut answer: Value, conclusion: &Conclusion, headers: HeaderMap) -> Piece {
    wire.with_calls(&mut answer, &conclusion.calls.passed);
    Piece { body: Bytes::from(answer.to_string()), headers }
}

/// What was found, for programs.
fn found(conclusion: &Conclusion, blocks: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let Conclusion { findings, calls, unjudged, .. } = conclusion;
    let mut told = notes::machine(findings, &calls.refused, unjudged.as_deref());
    if blocks {
        notes::without_claims(&mut told);
    }
    // A header may not be long.
    let mut line = notes::one_line(&told);
    if line.len() > 4096 {
        line = format!("{{\"findings\":{},\"too_long\":true}}", findings.len());
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
