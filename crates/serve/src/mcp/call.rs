use counterfoil_guard::HostedCall;

/// A call that the server is executing.
pub(super) struct Call {
    pub(super) hosted: HostedCall,
    pub(super) execution_id: Option<String>,
    /// Whether it may become a task that continues after the answer, because the client supports
    /// this.
    pub(super) as_task: bool,
}
