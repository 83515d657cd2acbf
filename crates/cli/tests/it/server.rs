//! A listening command of ours, and requests to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::Desk;

/// A running command, which is ended when dropped.
pub(crate) struct Server {
    child: Child,
    /// The address it listens on.
    pub(crate) address: String,
    /// The first line it printed.
    pub(crate) line: String,
    pub(crate) stderr: BufReader<ChildStderr>,
}

impl Server {
    /// Starts a command on a free port.
    pub(crate) fn start(
        desk: &Desk,
        command: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_counterfoil"));
        process.current_dir(desk.path()).env_clear().env("HOME", desk.path().join("home"));
        process.envs(variables.iter().copied());
        process.args([command, "--listen", "127.0.0.1:0"]).args(arguments);
        let mut child = process.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.split("://").nth(1).unwrap().split(['/', ',', ';']).next().unwrap();
        Self { child, address: address.trim().to_owned(), line, stderr }
    }

    /// Sends a request; returns the head and body of the answer.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        self.ask_as(&self.address, method, path, headers, body)
    }

    /// Like [`Server::ask`], with another `Host` header.
    pub(crate) fn ask_as(
        &self,
        host: &str,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> String {
        let port = self.address.rsplit(':').next().unwrap().parse().unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close");
        let length = body.len();
        let request = format!("{head}\r\n{headers}content-length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}
