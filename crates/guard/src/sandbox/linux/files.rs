//! Landlock: files and folders, TCP, signals.

use std::os::fd::OwnedFd;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

use super::super::{Gap, Plan, Profile};
use super::raw;

/// The newest version whose rights are asked for; older kernels give what they have.
const NEWEST: ABI = ABI::V9;

/// What the plan lets a process reach, and the version of Landlock that holds it to that: nothing
/// and 0 when this kernel has none.
pub(super) fn ruleset(plan: &Plan) -> Result<(Option<OwnedFd>, u32), RulesetError> {
    let ruleset: Option<OwnedFd> = granted(plan)?.into();
    let version = ruleset.as_ref().map_or(0, |_| raw::landlock_version());
    Ok((ruleset, version.min(NEWEST as u32)))
}

fn granted(plan: &Plan) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if plan.profile != Profile::Network {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let read = AccessFs::from_read(NEWEST);
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock;
    let write = AccessFs::from_all(NEWEST) & !devices;
    let use_device: BitFlags<AccessFs> = AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::IoctlDev;
    let mut ruleset = ruleset
        .create()?
        .add_rules(path_beneath_rules(&plan.read, read))?
        .add_rules(path_beneath_rules(&plan.list, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(&plan.write, write))?
        .add_rules(path_beneath_rules(&plan.devices, use_device))?;
    if plan.profile == Profile::Network {
        // Name services are asked through a socket.
        ruleset =
            ruleset.add_rules(path_beneath_rules(["/run", "/var/run"], AccessFs::ResolveUnix))?;
    }
    Ok(ruleset)
}

/// What versions before the newest do not hold.
pub(super) fn gaps(version: u32, plan: &Plan) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if version < 1 {
        gaps.push(Gap::essential(
            "files outside the workspace can be read and written, because the kernel has no \
             Landlock",
        ));
    } else if version < 3 {
        gaps.push(Gap::essential("files outside the workspace can be cut to nothing"));
    }
    if version < 6 && !plan.own_namespaces {
        gaps.push(Gap::remainder("other processes of its user can be sent signals"));
    }
    gaps
}
