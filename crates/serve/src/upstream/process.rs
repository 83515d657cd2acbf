use std::collections::{BTreeMap, VecDeque};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counterfoil_sandbox::HeldServer;
use serde_json::value::RawValue;
use tokio::io::AsyncRead;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{Mutex as AsyncMutex, mpsc};
use tokio::time::timeout;

use super::reply::{Flow, Reply, UpstreamError};
use crate::mcp::{Line, Lines, Members, Message, TopLevel, id_of, parts, write_message};

/// Capacity of a message queue.
const QUEUE: usize = 64;

/// Maximum number of unsolicited messages kept while there is no listener.
const UNHEARD: usize = 64;

/// How long one reader may hold up the others.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long to wait for the exit code of a server that has closed its output.
const EXIT: Duration = Duration::from_millis(500);

/// How long a server may take to exit.
const GRACE: Duration = Duration::from_secs(5);

/// A server process that we started. Routes its messages to their requesters.
#[derive(Debug)]
pub(crate) struct Process {
    input: AsyncMutex<Option<ChildStdin>>,
    child: AsyncMutex<Child>,
    routes: Arc<Mutex<Routes>>,
    /// The sandbox, if it is confined; its temporary folder is removed with it.
    _held: Option<HeldServer>,
}

/// Where to send the server's messages.
#[derive(Debug, Default)]
struct Routes {
    /// Open requests by the id sent to the server.
    by_id: BTreeMap<String, Route>,
    /// Receives unsolicited messages.
    general: Option<mpsc::Sender<String>>,
    unheard: VecDeque<String>,
    /// Whether several clients share the connection, so that ids are ours.
    shared: bool,
    /// Number of requests so far.
    requests: u64,
    ended: bool,
}

/// A request in progress.
#[derive(Debug)]
struct Route {
    to: mpsc::Sender<String>,
    /// The client's id for it, which only this client may use.
    id: String,
    /// The client's and our progress token, if progress is wanted.
    progress: Option<(String, String)>,
    /// The number of the request.
    number: u64,
}

/// A server's message with its receiver.
struct Bound {
    to: mpsc::Sender<String>,
    text: String,
}

impl Process {
    pub(crate) fn start(
        mut command: Command,
        held: Option<HeldServer>,
        shared: bool,
    ) -> Result<Self, UpstreamError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        let started = command.spawn();
        let mut child = started.map_err(|reason| UpstreamError::NotStarted { program, reason })?;
        let input = AsyncMutex::new(child.stdin.take());
        let routes = Arc::new(Mutex::new(Routes { shared, ..Routes::default() }));
        if let Some(output) = child.stdout.take() {
            tokio::spawn(read(output, Arc::clone(&routes)));
        }
        Ok(Self { input, child: AsyncMutex::new(child), routes, _held: held })
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        lock(&self.routes)
    }

    pub(crate) async fn exchange(&self, text: &str) -> Result<Reply, UpstreamError> {
        let unreadable = |error: serde_json::Error| UpstreamError::Unreadable(error.to_string());
        let message = Message::read(text).map_err(unreadable)?;
        let (Some(_), Some(id)) = (&message.method, message.id.as_deref()) else {
            self.send(text).await?;
            return Ok(Reply::accepted());
        };
        let (to, queue) = mpsc::channel(QUEUE);
        let line = self.routes().open(&message, id, to);
        let Some(line) = line else { return Err(UpstreamError::Ended) };
        self.send(line.as_deref().unwrap_or(text)).await?;
        Ok(Reply::from_flow(Flow::Queue(queue)))
    }

    pub(crate) fn listen(&self) -> Reply {
        let (to, queue) = mpsc::channel(QUEUE + UNHEARD);
        let mut routes = self.routes();
        for text in std::mem::take(&mut routes.unheard) {
            // There is room: the queue is empty and larger than this.
            to.try_send(text).ok();
        }
        if !routes.ended {
            routes.general = Some(to);
        }
        Reply::from_flow(Flow::Queue(queue))
    }

    /// Tells the server that a request was cancelled.
    pub(crate) async fn give_up(&self, id: &str) {
        let known = {
            let mut routes = self.routes();
            let known =
                routes.by_id.iter().find(|(_, route)| route.id == id && route.to.is_closed());
            let known = known.map(|(known, _)| known.clone());
            known.inspect(|known| {
                routes.by_id.remove(known);
            })
        };
        let Some(known) = known else { return };
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{known}}}}}"#
        );
        // Ignore errors: the server may be gone.
        self.send(&text).await.ok();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.routes().ended
    }

    /// The exit code of the process, which has closed its output, if it exits with one.
    pub(crate) async fn exit_code(&self) -> Option<i32> {
        let mut child = self.child.lock().await;
        timeout(EXIT, child.wait()).await.ok()?.ok()?.code()
    }

    pub(crate) fn forget(&self, id: &str) {
        self.routes().by_id.remove(id);
    }

    async fn send(&self, text: &str) -> Result<(), UpstreamError> {
        let mut input = self.input.lock().await;
        let input = input.as_mut().ok_or(UpstreamError::Ended)?;
        write_message(input, text).await.map_err(|_| UpstreamError::Ended)
    }

    pub(crate) async fn close(&self) {
        drop(self.input.lock().await.take());
        let mut child = self.child.lock().await;
        if timeout(GRACE, child.wait()).await.is_err() {
            // It may have exited in between.
            child.kill().await.ok();
        }
    }
}

fn lock(routes: &Mutex<Routes>) -> MutexGuard<'_, Routes> {
    routes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads all of the server's messages.
async fn read(output: impl AsyncRead + Unpin, routes: Arc<Mutex<Routes>>) {
    let mut lines = Lines::new(output);
    while let Ok(Some(line)) = lines.next().await {
        let text = match line {
            Line::Text(text) => text,
            Line::Unreadable(why, found) => match found.in_place_of_answer(why) {
                Some(answer) => answer,
                None => {
                    tracing::warn!("ignored a message from the server: {why}");
                    continue;
                }
            },
        };
        let Ok(parts) = parts(&text) else {
            tracing::warn!("ignored a batch from the server: it is not JSON");
            continue;
        };
        for part in parts {
            let bound = lock(&routes).bound(part);
            let Some(Bound { to, text }) = bound else { continue };
            if timeout(PATIENCE, to.send(text)).await.is_err() {
                tracing::warn!("ignored a message from the server: it was not read in time");
            }
        }
    }
    let mut routes = lock(&routes);
    routes.ended = true;
    routes.by_id.clear();
    routes.general = None;
}

impl Routes {
    /// Registers a request. Returns the line for the server if it differs from the client's, or
    /// `None` if the server has ended.
    #[expect(clippy::option_option, reason = "no server, or no other line")]
    fn open(
        &mut self,
        message: &Message<'_>,
        id: &str,
        to: mpsc::Sender<String>,
    ) -> Option<Option<String>> {
        if self.ended {
            return None;
        }
        self.requests += 1;
        let number = self.requests;
        let params = message.params().and_then(object);
        let meta = params.as_ref().and_then(|params| object(params.get("_meta")?));
        let token = meta.as_ref().and_then(|meta| meta.get("progressToken")).map(RawValue::get);
        if !self.shared {
            let progress = token.map(|token| (token.to_owned(), token.to_owned()));
            let route = Route { to, id: id.to_owned(), progress, number };
            self.by_id.insert(id.to_owned(), route);
            return Some(None);
        }
        let own = number.to_string();
        let mut line = message.members.with("id", &own);
        if let (Some(_), Some(params), Some(meta)) = (token, &params, &meta) {
            let params = params.with("_meta", &meta.with("progressToken", &own));
            line = match object_of(&line) {
                Some(members) => members.with("params", &params),
                None => line,
            };
        }
        let progress = token.map(|token| (token.to_owned(), own.clone()));
        self.by_id.insert(own, Route { to, id: id.to_owned(), progress, number });
        Some(Some(line))
    }

    /// The receiver of a server's message, and the message to send.
    fn bound(&mut self, text: &str) -> Option<Bound> {
        let answer;
        let (message, text) = match Message::read(text) {
            Ok(message) => (message, text),
            Err(error) => {
                let why = error.to_string();
                let Some(error) = TopLevel::parse(text.as_bytes()).in_place_of_answer(&why) else {
                    tracing::warn!("the server sent an invalid message: {why}");
                    return None;
                };
                answer = error;
                (Message::read(&answer).ok()?, answer.as_str())
            }
        };
        if message.method.is_none() {
            let id = message.id.as_deref()?;
            let Some(route) = self.by_id.remove(id) else {
                tracing::warn!("the server answered an unknown request: {id}");
                return None;
            };
            let text = match self.shared {
                true => message.members.with("id", &route.id),
                false => text.to_owned(),
            };
            return Some(Bound { to: route.to, text });
        }
        let params = message.params().and_then(object);
        let bound = params.as_ref().and_then(|params| self.named_route(&message, params, text));
        if bound.is_some() {
            return bound;
        }
        let latest = self.by_id.values().max_by_key(|route| route.number);
        let to = self.general.as_ref().filter(|to| !to.is_closed());
        // Without a listener, the message goes to the latest request.
        match to.or(latest.filter(|_| !self.shared).map(|route| &route.to)) {
            Some(to) => Some(Bound { to: to.clone(), text: text.to_owned() }),
            None => {
                if !self.shared {
                    self.unheard.truncate(UNHEARD - 1);
                    self.unheard.push_back(text.to_owned());
                }
                None
            }
        }
    }

    /// Routes a message that names the request it belongs to.
    fn named_route(
        &self,
        message: &Message<'_>,
        params: &Members<'_>,
        text: &str,
    ) -> Option<Bound> {
        const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
        if let Some(token) = params.get("progressToken").map(RawValue::get) {
            let mut routes = self.by_id.values();
            let known = id_of(token);
            let same = |route: &&Route| {
                let own = route.progress.as_ref().map(|(_, own)| own.as_str());
                own.is_some_and(|own| own == token || known.is_some() && id_of(own) == known)
            };
            let route = routes.find(same)?;
            let text = match (&route.progress, self.shared) {
                (Some((theirs, _)), true) => {
                    message.members.with("params", &params.with("progressToken", theirs))
                }
                _ => text.to_owned(),
            };
            return Some(Bound { to: route.to.clone(), text });
        }
        let meta = object(params.get("_meta")?)?;
        let route = self.by_id.get(&id_of(meta.get(SUBSCRIPTION)?.get())?)?;
        let text = match self.shared {
            true => {
                let params = params.with("_meta", &meta.with(SUBSCRIPTION, &route.id));
                message.members.with("params", &params)
            }
            false => text.to_owned(),
        };
        Some(Bound { to: route.to.clone(), text })
    }
}

fn object(raw: &RawValue) -> Option<Members<'_>> {
    object_of(raw.get())
}

fn object_of(text: &str) -> Option<Members<'_>> {
    serde_json::from_str(text).ok()
}
