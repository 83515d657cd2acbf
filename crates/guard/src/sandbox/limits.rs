//! The limits of a process.

use super::Limits;

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
