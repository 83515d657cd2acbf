//! A test server that gives configured responses and counts connections.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// How the server responds to a request.
pub(super) enum Act {
    /// Sends these bytes and closes the connection.
    Send(Vec<u8>),
    /// Sends these bytes, then nothing for as long as the client waits.
    SendAndWait(Vec<u8>),
    /// Sends the head, then the piece over and over, until the client disconnects.
    SendForEver(Vec<u8>, Vec<u8>),
}

pub(super) struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server on this machine at its own port. `act` gets the requested path.
    pub(super) fn start(act: impl Fn(&str) -> Act + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", act).unwrap()
    }

    pub(super) fn at(
        place: &str,
        act: impl Fn(&str) -> Act + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind(place)?;
        let address = listener.local_addr()?;
        let connections = Arc::new(AtomicUsize::new(0));
        let (requests, done) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (act, counted, heard, ended) =
            (Arc::new(act), Arc::clone(&connections), Arc::clone(&requests), Arc::clone(&done));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                counted.fetch_add(1, Ordering::SeqCst);
                let (act, heard) = (Arc::clone(&act), Arc::clone(&heard));
                std::thread::spawn(move || {
                    stream.and_then(|stream| serve(stream, act.as_ref(), &heard))
                });
            }
        });
        Ok(Self { address, connections, requests, done, thread: Some(thread) })
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(super) fn authority(&self) -> String {
        self.address.to_string()
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The number of connections.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The request heads.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.done.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn serve(
    stream: TcpStream,
    act: &dyn Fn(&str) -> Act,
    heard: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    heard.lock().unwrap().push(head);
    let mut stream = stream;
    match act(&path) {
        Act::Send(bytes) => stream.write_all(&bytes),
        Act::SendAndWait(bytes) => {
            stream.write_all(&bytes)?;
            // Returns when the client has disconnected.
            reader.read_line(&mut String::new()).map(drop)
        }
        Act::SendForEver(head, piece) => {
            stream.write_all(&head)?;
            loop {
                stream.write_all(&piece)?;
            }
        }
    }
}

/// A complete response; `headers` are lines that end in CR LF.
pub(super) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Act {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    Act::Send([head.as_bytes(), body].concat())
}

/// A redirect.
pub(super) fn moved(location: &str) -> Act {
    answer("302 Found", &format!("Location: {location}\r\n"), "")
}
