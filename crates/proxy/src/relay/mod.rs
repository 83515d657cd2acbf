//! Handles a streamed answer: what may be passed on is passed on at once and unchanged.

mod settle;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use counterfoil_providers::{Assembly, Events, Piece, Reply, WireError};
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

use crate::comments::CommentFilter;
use crate::conclusion::{AgentMessage, Became, Conclusion};
use crate::exchange::Exchange;
use crate::failure;
use crate::forward::BoxError;
use crate::frames::{Frame, Frames, is_plain};
use crate::judge::{Window, last_end};
use crate::notes;
use crate::options::ProxyMode;
use crate::shape::{self, Flow, Shape, Unreadable};
use crate::spoken::may_call;
use crate::wire::{Wire, Writer};

/// The client's end of an answer.
pub(crate) type Out = Sender<Result<Bytes, BoxError>>;

/// An event that the client does not have yet.
struct Held {
    raw: Bytes,
    /// Its JSON, if it is kept.
    event: Option<Value>,
    /// The end of its words in the answer, and whether it has any.
    end: usize,
    speaks: bool,
    /// Whether a call or the end of the answer begins with it.
    last: bool,
}

/// A streamed answer in progress.
pub(crate) struct Relay {
    exchange: Arc<Exchange>,
    out: Out,
    comments: CommentFilter,
    frames: Frames,
    /// The answer as its clients read it, and why they may read it differently.
    shape: Shape,
    doubt: Option<Unreadable>,
    /// `None` once something was received that cannot be read.
    assembly: Option<Assembly>,
    writer: Box<dyn Writer>,
    queue: VecDeque<Held>,
    held: usize,
    text: String,
    window: Window,
    /// The length of the text that may be passed on.
    cleared: usize,
    /// The length of the text that was passed on.
    released: usize,
    /// Whether everything from here on waits for the end.
    closing: bool,
    unread: Option<String>,
    /// Whether the client knows that it was not read.
    noted: bool,
    /// Whether bytes are passed on without parsing.
    raw: bool,
    /// Whether the end was announced.
    ended: bool,
    /// The event with which the server gave up.
    failed: Option<Frame>,
    /// How it ended, if the end was received together with bytes.
    last: Option<Came>,
    /// The words that we wrote in place of the received ones.
    own: String,
    response: Option<String>,
}

/// Bytes, the end, or an error of the server; `Err(None)` if the client is gone.
type Came = Result<Option<Bytes>, Option<BoxError>>;

/// The maximum number of available pieces that are processed together.
const MOST_AT_ONCE: usize = 16;

/// The number of held events whose JSON is kept. That of more events is read again, because it
/// takes much more memory than their bytes.
const MOST_PARSED: usize = 64;

const TOO_LONG: &str = "an event is longer than 64 MiB";

/// The client has disconnected.
struct Gone;

impl Relay {
    pub(crate) fn new(exchange: Arc<Exchange>, out: Out) -> Self {
        let wire = exchange.wire();
        Self {
            out,
            comments: CommentFilter::default(),
            frames: Frames::default(),
            shape: Shape::new(wire),
            doubt: None,
            assembly: Some(Assembly::new(wire.kind())),
            writer: wire.writer(),
            queue: VecDeque::new(),
            held: 0,
            text: String::new(),
            window: Window::default(),
            cleared: 0,
            released: 0,
            // An answer with several choices is not judged.
            closing: exchange.request.choices > 1 && exchange.settings.withholds(),
            unread: None,
            noted: false,
            raw: false,
            ended: false,
            failed: None,
            last: None,
            own: String::new(),
            response: None,
            exchange,
        }
    }

    /// Passes the answer on until its end.
    pub(crate) async fn run(mut self, status: u16, mut body: Incoming) {
        let broken = loop {
            match self.next(&mut body).await {
                Ok(Some(bytes)) => {
                    if self.take_with_more(bytes, &mut body).await.is_err() {
                        return self.gone(status).await;
                    }
                }
                Ok(None) => break None,
                Err(None) => return self.gone(status).await,
                Err(Some(error)) => break Some(error),
            }
        };
        self.finish(status, broken).await;
    }

    /// Processes these bytes together with any that are already available, then passes on what it
    /// can. If judging is slower than the model, more is judged at once.
    async fn take_with_more(&mut self, bytes: Bytes, body: &mut Incoming) -> Result<(), Gone> {
        self.take(bytes).await?;
        for _ in 0..MOST_AT_ONCE {
            match self.next(body).now_or_never() {
                Some(Ok(Some(bytes))) => self.take(bytes).await?,
                Some(last) => {
                    self.last = Some(last);
                    break;
                }
                None => break,
            }
        }
        if self.closing || self.observes() {
            return Ok(());
        }
        self.clear().await;
        self.release().await
    }

    /// Receives the next bytes; an error of the server; or `Err(None)` if the client is gone.
    async fn next(&mut self, body: &mut Incoming) -> Came {
        if let Some(last) = self.last.take() {
            return last;
        }
        let silence = self.exchange.settings.silence;
        loop {
            let frame = tokio::select! {
                frame = timeout(silence, body.frame()) => frame,
                () = self.out.closed() => return Err(None),
            };
            match frame {
                Err(_) => {
                    let why = format!("the server sent nothing for {} s", silence.as_secs());
                    return Err(Some(why.into()));
                }
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(Some(error.into())),
                Ok(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }

    fn withholds(&self) -> bool {
        self.exchange.settings.withholds()
    }

    fn observes(&self) -> bool {
        self.exchange.mode() == ProxyMode::Observe
    }

    async fn send(&self, bytes: Bytes) -> Result<(), Gone> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.out.send(Ok(bytes)).await.map_err(|_| Gone)
    }

    async fn take(&mut self, bytes: Bytes) -> Result<(), Gone> {
        let bytes = self.comments.pass(bytes);
        if self.observes() {
            self.send(bytes.clone()).await?;
        }
        if self.raw {
            return if self.observes() { Ok(()) } else { self.send(bytes).await };
        }
        let frames = self.frames.push(&bytes);
        frames.into_iter().for_each(|frame| self.event(frame));
        if !self.frames.is_too_long() {
            return Ok(());
        }
        self.cannot_read(TOO_LONG.to_owned());
        let rest = std::mem::take(&mut self.frames).rest();
        // From here on, events are not parsed.
        self.raw = !self.withholds();
        if !self.raw {
            return Ok(());
        }
        self.note().await?;
        self.give_all(rest).await
    }

    /// Reads an event, and appends it to the queue.
    fn event(&mut self, frame: Frame) {
        let is_end = frame.data.trim() == "[DONE]";
        if frame.too_long {
            self.cannot_read(TOO_LONG.to_owned());
        }
        if self.withholds() {
            self.suspect(&frame, is_end);
        }
        let new_text = self.assemble(&frame, is_end);
        if self.observes() && self.response.is_some() {
            return;
        }
        let (event, flow) = self.read(&frame, is_end);
        self.ended |= is_end || event.get("type").is_some_and(|kind| kind == "message_stop");
        if self.response.is_none() {
            let id = ["/id", "/message/id", "/response/id"].iter().find_map(|at| event.pointer(at));
            self.response = id.and_then(Value::as_str).map(str::to_owned);
            self.response.iter().for_each(|id| self.exchange.announce(id));
        }
        if self.observes() || self.unread.is_some() && self.withholds() {
            return;
        }
        self.writer.learn(&event);
        self.wait(frame.raw, event, (!new_text.is_empty(), flow));
    }

    /// The JSON of an event, and whether it may be passed on before the end. An event that clients
    /// read in different ways is not read at all if the mode withholds; otherwise it raises a
    /// doubt.
    fn read(&mut self, frame: &Frame, is_end: bool) -> (Value, Flow) {
        if frame.data.is_empty() || is_end {
            return (Value::Null, Flow::Flows);
        }
        let lax = || serde_json::from_str::<Value>(&frame.data).ok();
        if self.observes() || self.unread.is_some() {
            // Only its name is needed.
            return (lax().unwrap_or_default(), Flow::Flows);
        }
        let strict = shape::parse(&frame.data);
        let read = strict
            .as_ref()
            .map_err(|why| *why)
            .and_then(|event| self.shape.event(&frame.name, event, &self.exchange.request));
        let flow = read.unwrap_or_else(|why| {
            if self.withholds() {
                self.cannot_read(why.to_string());
            }
            self.doubt.get_or_insert(why);
            Flow::Flows
        });
        let event = strict.ok().or_else(lax);
        if event.is_none() {
            self.cannot_read("an event cannot be read".to_owned());
        }
        (event.unwrap_or_default(), flow)
    }

    /// Rejects events with lines that readers may read in different ways.
    fn suspect(&mut self, frame: &Frame, is_end: bool) {
        if self.unread.is_some() {
            return;
        }
        if !is_plain(&frame.raw) {
            self.cannot_read(
                "clients may disagree on how to read some lines of the answer".to_owned(),
            );
        }
        // Some servers announce the end or send a ping more than once.
        let data = &frame.data;
        let empty = is_end || data.is_empty() || data.replace(' ', "") == "{\"type\":\"ping\"}";
        if self.ended && !empty {
            self.cannot_read("the answer contains data after its end marker".to_owned());
        }
    }

    /// Adds an event to the answer. Returns the words that it contained.
    fn assemble(&mut self, frame: &Frame, is_end: bool) -> String {
        let mut new_text = String::new();
        let reads = !frame.data.is_empty() && (self.exchange.wire() == Wire::Chat || !is_end);
        let Some(assembly) = self.assembly.as_mut().filter(|_| reads) else { return new_text };
        let taken = assembly.take(&frame.data, &mut |piece| {
            if let Piece::Text(text) = piece {
                new_text.push_str(&text);
            }
        });
        match taken {
            // The server gave up, in words that the client understands.
            Err(error @ WireError::Reported(_)) => {
                self.noted = true;
                self.cannot_read(failure::plain(&error).to_owned());
                self.failed = Some(frame.clone());
            }
            Err(error) => self.cannot_read(failure::plain(&error).to_owned()),
            Ok(()) => {}
        }
        self.text.push_str(&new_text);
        new_text
    }

    /// Appends an event to the queue.
    fn wait(&mut self, raw: Bytes, event: Value, (speaks, flow): (bool, Flow)) {
        let holds = self.exchange.mode().holds();
        let last = self.writer.closes(&event)
            || self.writer.is_call(&event) && (holds || self.exchange.tools.is_some())
            || holds && self.exchange.request.structured && speaks
            || holds && flow == Flow::Waits;
        self.held += taken(&raw);
        let event = (self.queue.len() < MOST_PARSED).then_some(event);
        self.queue.push_back(Held { raw, event, end: self.text.len(), speaks, last });
        // Unreadable events are passed on if the mode allows it.
        self.closing |= last && self.unread.is_none();
        if self.held > self.exchange.settings.max_held_bytes {
            self.cannot_read(
                "the part to hold back is larger than `proxy.max_held_bytes`".to_owned(),
            );
        }
    }

    fn cannot_read(&mut self, why: String) {
        self.unread.get_or_insert(why);
        self.assembly = None;
        self.closing = self.withholds();
        self.held = 0;
        if self.closing {
            self.queue.clear();
        } else {
            self.cleared = usize::MAX;
        }
    }

    /// Determines how much of the text may be passed on.
    async fn clear(&mut self) {
        if !self.exchange.mode().holds() || self.unread.is_some() {
            self.cleared = usize::MAX;
            return;
        }
        if self.exchange.has_judge() {
            return;
        }
        // If a call may begin here, nothing is passed on before it is known what it is.
        if self.withholds() && may_call(&self.text, self.cleared) {
            self.closing = true;
            return;
        }
        let fresh = self.text.get(self.cleared..).unwrap_or_default();
        let Some(end) = last_end(fresh).map(|end| self.cleared + end) else { return };
        if fresh.get(..end - self.cleared).unwrap_or_default().trim().is_empty() {
            self.cleared = end;
            return;
        }
        let words = self.window.judged_text(&self.text, (self.cleared, end));
        match self.exchange.judge_text(&words).await {
            Ok(bad) if bad.is_empty() => self.cleared = end,
            // The rest may still correct it.
            Ok(_) => self.closing = true,
            Err(why) => {
                self.closing = self.withholds();
                if self.closing {
                    self.unread.get_or_insert(why);
                } else {
                    self.cleared = end;
                }
            }
        }
    }

    /// Tells programs once that the answer is not read.
    async fn note(&mut self) -> Result<(), Gone> {
        let Some(why) = self.unread.clone().filter(|_| !self.observes() && !self.withholds())
        else {
            return Ok(());
        };
        if std::mem::replace(&mut self.noted, true) {
            return Ok(());
        }
        self.write(notes::comment(&notes::machine(&[], &[], Some(&why)))).await
    }

    /// Passes on what may be passed on, in order.
    async fn release(&mut self) -> Result<(), Gone> {
        self.note().await?;
        while let Some(front) = self.queue.front() {
            let unclear = front.speaks && front.end > self.cleared;
            if unclear || (front.last && self.closing) {
                return Ok(());
            }
            self.give().await?;
        }
        Ok(())
    }

    /// Passes on the first event in the queue, unchanged.
    async fn give(&mut self) -> Result<(), Gone> {
        let Some(Held { raw, event, end, speaks, .. }) = self.queue.pop_front() else {
            return Ok(());
        };
        self.held = self.held.saturating_sub(taken(&raw));
        self.writer.given(&event.unwrap_or_else(|| parsed(&raw)));
        if speaks {
            self.released = end;
        }
        if self.observes() { Ok(()) } else { self.send(raw).await }
    }

    /// Passes on our own text.
    async fn write(&mut self, text: String) -> Result<(), Gone> {
        self.send(Bytes::from(text)).await
    }

    async fn words(&mut self, text: &str) -> Result<(), Gone> {
        if text.is_empty() {
            return Ok(());
        }
        self.own.push_str(text);
        let written = self.writer.text(text);
        self.write(written).await
    }

    async fn gone(self, status: u16) {
        let reply = Reply { text: self.text.clone(), ..Reply::default() };
        let conclusion = self.exchange.conclude(&reply, "", None).await;
        let message = AgentMessage { text: self.text.clone(), calls: Vec::new() };
        let judged = self.text.clone();
        let became = Became { what: "broken off", status, judged, message, ..Became::default() };
        self.exchange.done(conclusion, became).await;
    }

    async fn finish(mut self, status: u16, broken: Option<BoxError>) {
        let why = broken.as_ref().map(ToString::to_string);
        let reply = match self.assembly.take().map(Assembly::finish) {
            Some(Ok(reply)) if why.is_none() => Ok(reply),
            Some(Err(error)) if why.is_none() => Err(failure::plain(&error).to_owned()),
            _ => Err(why.or_else(|| self.unread.clone()).unwrap_or_default()),
        };
        let mut became = Became { status, ..Became::default() };
        let conclusion = match reply {
            Ok(reply) if self.observes() => self.observed(reply, &mut became).await,
            Ok(reply) => match self.withheld(&reply).await {
                Some(why) => self.not_read(why, None, &mut became).await,
                None => self.ended(reply, &mut became).await,
            },
            Err(why) => self.not_read(why, broken, &mut became).await,
        };
        became.response = self.response.take();
        let Self { exchange, out, .. } = self;
        // The client has its answer and does not wait for the recording.
        drop(out);
        exchange.done(conclusion, became).await;
    }

    /// Why an answer is withheld before it is judged.
    async fn withheld(&self, reply: &Reply) -> Option<String> {
        if !self.withholds() {
            return None;
        }
        match self.unaccounted(reply) {
            None => failure::remarks(&self.exchange, self.shape.remarks()).await,
            why => why,
        }
    }

    /// Why clients may read a different answer than the one that is judged.
    fn unaccounted(&self, reply: &Reply) -> Option<String> {
        if reply.text != self.text {
            return Some(
                "the text was streamed in a different order than in the finished answer".to_owned(),
            );
        }
        if let Some(doubt) = self.doubt {
            return Some(doubt.to_string());
        }
        if self.observes() {
            return None;
        }
        self.shape.is_judged(&reply.text, &reply.calls).err().map(|why| why.to_string())
    }

    /// Judges an answer that was already passed on.
    async fn observed(&mut self, reply: Reply, became: &mut Became) -> Conclusion {
        let (out, _) = tokio::sync::mpsc::channel(1);
        self.out = out;
        let conclusion = self.exchange.conclude(&reply, "", None).await;
        *became = Became { what: conclusion.passed(), ..Became::from_reply(became.status, &reply) };
        conclusion
    }

    /// Handles an answer that broke off or cannot be read.
    async fn not_read(
        &mut self,
        why: String,
        broken: Option<BoxError>,
        became: &mut Became,
    ) -> Conclusion {
        became.what = if broken.is_some() { "broken off" } else { "not judged" };
        let rest = std::mem::take(&mut self.frames).rest();
        became.withheld = self.withholds();
        let given = match became.withheld {
            true => self.hold_unread(&why).await,
            false => match self.note_at_end(&why, &rest).await {
                Ok(()) => self.give_all(rest).await,
                gone => gone,
            },
        };
        became.message.text = self.text.get(..self.released).unwrap_or_default().to_owned();
        if let (Ok(()), Some(error)) = (given, broken) {
            // The client sees a broken connection, which it does not take for the end. Everything
            // before it has to be sent first.
            while self.out.capacity() < self.out.max_capacity() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            self.out.send(Err(error)).await.ok();
        }
        became.judged.clone_from(&became.message.text);
        let reply = Reply { text: became.message.text.clone(), ..Reply::default() };
        let mut conclusion = self.exchange.conclude(&reply, "", None).await;
        conclusion.unjudged.get_or_insert(why);
        conclusion
    }

    async fn give_all(&mut self, rest: Bytes) -> Result<(), Gone> {
        while !self.queue.is_empty() {
            self.give().await?;
        }
        // An incomplete event does not count.
        let blank = rest.iter().all(|byte| matches!(byte, b'\n' | b'\r'));
        match self.observes() || (self.withholds() && !blank) {
            true => Ok(()),
            false => self.send(rest).await,
        }
    }

    /// Tells programs at the end that the answer is not read, if they were not told before.
    async fn note_at_end(&mut self, why: &str, rest: &[u8]) -> Result<(), Gone> {
        self.unread.get_or_insert_with(|| why.to_owned());
        match rest.is_empty() {
            true => self.note().await,
            // Inside an event, no comment can be written.
            false => Ok(()),
        }
    }

    async fn hold_unread(&mut self, why: &str) -> Result<(), Gone> {
        // What could be judged was already passed on.
        self.queue.clear();
        let wire = self.exchange.wire();
        let failed = match self.failed.take() {
            Some(frame) => failure::event(&self.exchange, &frame).await,
            None => None,
        };
        let event = failed.unwrap_or_else(|| Bytes::from(wire.error_event(&notes::unjudged(why))));
        self.send(event).await
    }
}

/// The JSON of an event that was read before.
fn parsed(raw: &Bytes) -> Value {
    let mut events = Events::default();
    let data = events.push(raw).ok().and_then(|()| events.next()).map(|event| event.data);
    data.and_then(|data| serde_json::from_str(&data).ok()).unwrap_or_default()
}

/// The memory that an event in the queue takes.
fn taken(raw: &Bytes) -> usize {
    raw.len() + size_of::<Held>()
}
