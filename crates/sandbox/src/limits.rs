use serde::{Deserialize, Serialize};

/// What each process of a command may use, at most; `None` is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time in seconds.
    pub cpu_secs: Option<u64>,
    /// Private memory in bytes.
    pub memory: Option<u64>,
    /// Processes of the user, all together.
    pub processes: Option<u64>,
    /// The longest file that is written, in bytes.
    pub file: Option<u64>,
    /// By what its processes are found again; no limit to anything.
    pub mark: Option<u64>,
}

#[cfg(all(feature = "kernel", target_os = "linux"))]
impl Limits {
    /// Sets them for this process. What it starts inherits them. Never raises a limit that it is
    /// under already.
    pub(crate) fn apply(&self) -> std::io::Result<()> {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

        let limits = [
            (Resource::Cpu, self.cpu_secs),
            (Resource::Data, self.memory),
            (Resource::Nproc, self.processes),
            (Resource::Fsize, self.file),
            (Resource::Core, Some(0)),
            (Resource::Rss, self.mark),
        ];
        for (resource, limit) in limits {
            let Some(limit) = limit else { continue };
            let own = getrlimit(resource).maximum;
            let limit = Some(own.map_or(limit, |own| limit.min(own)));
            setrlimit(resource, Rlimit { current: limit, maximum: limit })?;
        }
        Ok(())
    }
}
