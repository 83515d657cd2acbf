use serde_json::Value;

use crate::upstream::UpstreamError;

/// Why a request to a server has no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The connection or the server failed.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The answer took too long.
    #[error("the MCP server did not answer `{method}` within {secs} s")]
    TooSlow {
        /// The method.
        method: String,
        /// The time limit in seconds.
        secs: u64,
    },
    /// The server ended, or its answer is incomplete.
    #[error("the MCP server {} before it answered `{method}`", ended(.code))]
    Ended {
        /// The method.
        method: String,
        /// The exit code of its process, if it is known.
        code: Option<i32>,
    },
    /// The server answered with an error.
    #[error("the MCP server returned an error for `{method}`: {message}")]
    Refused {
        /// The method.
        method: String,
        /// The error code.
        code: i64,
        /// The error message.
        message: String,
        /// Additional data of the error.
        data: Box<Value>,
    },
    /// The server asks for input from a person, which cannot be provided here.
    #[error("the MCP server asks the user a question, but no user is available")]
    NoOneToAsk,
}

fn ended(code: &Option<i32>) -> String {
    match code {
        Some(code) => format!("exited with code {code}"),
        None => "closed the connection".to_owned(),
    }
}

/// The server is unreachable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AwayError {
    #[error(
        "the MCP server `{name}` did not answer within {secs} s; what it offers is missing from \
         the list until it does"
    )]
    Late { name: String, secs: u64 },
    #[error("lost the connection to the MCP server `{name}`; retrying in {secs} s")]
    Pausing { name: String, secs: u64 },
    #[error("cannot reach the MCP server `{name}`: {}", cause(.reason))]
    Failed { name: String, reason: ClientError },
}

/// The reason why a server cannot be reached, without saying again that it cannot.
fn cause(reason: &ClientError) -> String {
    match reason {
        ClientError::Upstream(UpstreamError::NotReached(why)) => why.clone(),
        other => other.to_string(),
    }
}
