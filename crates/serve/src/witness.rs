//! An HTTP witness and its client: C2SP's `add-checkpoint`, and the latest checkpoint of a ledger
//! for verifiers.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use counterfoil_ledger::{Witness, WitnessRefusal};
use counterfoil_model::Digest;
use counterfoil_providers::{Connector, causes};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::http::{Answer, Listening, answer, listen};

/// Maximum size of a submission, and of an answer, in bytes.
const LONGEST: usize = 64 * 1024;
/// Time limit for receiving a submission, and for a witness's answer.
const PATIENCE: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(5);

const TEXT: &str = "text/plain; charset=utf-8";
const SIZE: &str = "text/x.tlog.size";

/// Serves ledgers until `stop` completes.
///
/// # Errors
/// When connections can no longer be accepted.
pub async fn serve_witness(
    witness: Arc<Witness>,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let listening = Listening { listener, tls: None, grace: GRACE };
    listen(listening, stop, move |request, _| respond(Arc::clone(&witness), request)).await
}

async fn respond(witness: Arc<Witness>, request: Request<Incoming>) -> Answer {
    let path = request.uri().path().to_owned();
    match (request.method(), path.as_str()) {
        (&Method::POST, "/add-checkpoint") => {
            let body = Limited::new(request.into_body(), LONGEST).collect();
            let Ok(Ok(body)) = timeout(PATIENCE, body).await else {
                return answer(
                    StatusCode::BAD_REQUEST,
                    TEXT,
                    "the submission is incomplete, too long or too late\n",
                );
            };
            let Ok(body) = String::from_utf8(body.to_bytes().to_vec()) else {
                return answer(StatusCode::BAD_REQUEST, TEXT, "the submission is not UTF-8\n");
            };
            // It waits for a lock and for disk writes.
            let added = tokio::task::spawn_blocking(move || witness.add(&body)).await;
            match added {
                Ok(Ok(line)) => answer(StatusCode::OK, TEXT, line),
                Ok(Err(refusal)) => refused(&refusal),
                Err(error) => refused(&WitnessRefusal::Storage(error.to_string())),
            }
        }
        (&Method::GET, "/key") => {
            answer(StatusCode::OK, TEXT, format!("{}\n", witness.verifier_key()))
        }
        (&Method::GET, path) => {
            let nothing = || answer(StatusCode::NOT_FOUND, TEXT, "not found\n");
            let Some(origin) = path.strip_prefix("/checkpoint/").and_then(Digest::from_hex) else {
                return nothing();
            };
            let read = tokio::task::spawn_blocking(move || witness.latest_by_digest(&origin)).await;
            match read {
                Ok(Ok(Some(note))) => answer(StatusCode::OK, TEXT, note),
                Ok(Ok(None)) => nothing(),
                Ok(Err(refusal)) => refused(&refusal),
                Err(error) => refused(&WitnessRefusal::Storage(error.to_string())),
            }
        }
        _ => answer(StatusCode::METHOD_NOT_ALLOWED, TEXT, "use GET or POST\n"),
    }
}

fn refused(refusal: &WitnessRefusal) -> Answer {
    let status = match refusal {
        WitnessRefusal::OtherSize(size) => {
            return answer(StatusCode::CONFLICT, SIZE, format!("{size}\n"));
        }
        WitnessRefusal::Malformed(_) => StatusCode::BAD_REQUEST,
        WitnessRefusal::UnknownOrigin(_) => StatusCode::NOT_FOUND,
        WitnessRefusal::Unsigned => StatusCode::FORBIDDEN,
        WitnessRefusal::Forked => StatusCode::CONFLICT,
        WitnessRefusal::Inconsistent => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    answer(status, TEXT, format!("{refusal}\n"))
}

/// The answer of a witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WitnessAnswer {
    /// Cosigned, with these signature lines.
    Cosigned(String),
    /// The witness has already cosigned a checkpoint of this size, and wants a proof from there.
    OtherSize(u64),
    /// The witness refuses to cosign.
    Refused(String),
}

/// Why a witness could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskWitnessError {
    /// The URL is invalid.
    #[error(
        "`{0}` is not a witness URL: it must begin with `https://` or `http://`, followed by a host"
    )]
    Url(String),
    /// There was no answer.
    #[error("cannot get an answer from the witness: {0}")]
    NotReached(String),
    /// The answer is invalid.
    #[error("the witness gave an unexpected answer: {0}")]
    Answer(String),
}

/// Submits a checkpoint to a witness.
///
/// # Errors
/// When the witness could not be asked.
pub async fn ask_witness(url: &str, submission: String) -> Result<WitnessAnswer, AskWitnessError> {
    let (status, kind, text) = exchange(url, "add-checkpoint", Some(submission)).await?;
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let signs = |text: &str| !text.is_empty() && text.lines().all(|l| l.starts_with("\u{2014} "));
    match (status, kind) {
        (StatusCode::OK, _) if signs(&text) => Ok(WitnessAnswer::Cosigned(text)),
        (StatusCode::OK, _) => {
            Err(AskWitnessError::Answer("text that is not a cosignature".to_owned()))
        }
        (StatusCode::CONFLICT, SIZE) => {
            let size = text.trim_end().parse().map(WitnessAnswer::OtherSize);
            size.map_err(|_| AskWitnessError::Answer("a size that is not a number".to_owned()))
        }
        // Two histories of the same size, an invalid proof, or an unknown signature.
        (StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY | StatusCode::FORBIDDEN, _) => {
            Ok(WitnessAnswer::Refused(format!("{}: {}", status.as_u16(), text.trim())))
        }
        (status, _) => {
            let text: String = text.trim().chars().take(200).collect();
            Err(AskWitnessError::Answer(format!("{}: {text}", status.as_u16())))
        }
    }
}

/// The latest checkpoint of a ledger from one of our witnesses, with its cosignature.
///
/// # Errors
/// When the witness could not be asked.
pub async fn latest_witnessed(url: &str, origin: &str) -> Result<Option<String>, AskWitnessError> {
    let path = format!("checkpoint/{}", Digest::of_bytes(origin.as_bytes()));
    match exchange(url, &path, None).await? {
        (StatusCode::OK, _, text) => Ok(Some(text)),
        (StatusCode::NOT_FOUND, ..) => Ok(None),
        (status, ..) => Err(AskWitnessError::Answer(status.to_string())),
    }
}

/// Sends one request, and returns the status, content type and text of the response.
async fn exchange(
    url: &str,
    path: &str,
    body: Option<String>,
) -> Result<(StatusCode, String, String), AskWitnessError> {
    let wrong = || AskWitnessError::Url(url.to_owned());
    let uri: Uri = format!("{}/{path}", url.trim_end_matches('/')).parse().map_err(|_| wrong())?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
        return Err(wrong());
    }
    let method = if body.is_some() { Method::POST } else { Method::GET };
    let body = Full::new(Bytes::from(body.unwrap_or_default()));
    let request = Request::builder().method(method).uri(uri).body(body).map_err(|_| wrong())?;
    let client: Client<Connector, Full<Bytes>> =
        Client::builder(TokioExecutor::new()).build(Connector::default());
    let reply = async {
        let response = client.request(request).await.map_err(|error| causes(&error))?;
        let (head, body) = response.into_parts();
        let body =
            Limited::new(body, LONGEST).collect().await.map_err(|error| error.to_string())?;
        let kind = head.headers.get(hyper::header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
        let text = String::from_utf8(body.to_bytes().to_vec()).map_err(|e| e.to_string())?;
        Ok((head.status, kind, text))
    };
    match timeout(PATIENCE, reply).await {
        Ok(reply) => reply.map_err(AskWitnessError::NotReached),
        Err(_) => Err(AskWitnessError::NotReached(format!("no answer in {PATIENCE:?}"))),
    }
}
