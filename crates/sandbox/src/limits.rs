use serde::{Deserialize, Serialize};

/// Limits for each process of a command; `None` means unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time in seconds.
    pub cpu_secs: Option<u64>,
    /// Private memory in bytes.
    pub memory: Option<u64>,
    /// All processes of the user together.
    pub processes: Option<u64>,
    /// The maximum size of a written file in bytes.
    pub file: Option<u64>,
    /// The mark for finding its processes; it limits nothing.
    pub mark: Option<u64>,
}

#[cfg(all(feature = "kernel", target_os = "linux"))]
impl Limits {
    /// Applies the limits to this process and its children. Never raises a limit that is already in
    /// force.
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
