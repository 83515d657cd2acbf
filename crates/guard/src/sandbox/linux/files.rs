//! Landlock: files and folders, TCP, signals.

use std::io;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::super::{Gap, Plan, Profile};

/// The newest version whose rights are asked for; older kernels give what they have.
const NEWEST: ABI = ABI::V9;

/// Holds this process to the plan. The gaps are what this kernel cannot do.
pub(super) fn restrict(plan: &Plan) -> io::Result<(Vec<Gap>, u32)> {
    let status = apply(plan).map_err(|error| io::Error::other(format!("Landlock: {error}")))?;
    let version = match (&status.ruleset, &status.landlock) {
        (RulesetStatus::NotEnforced, _) => 0,
        (_, LandlockStatus::Available { effective_abi, .. }) => *effective_abi as u32,
        _ => 0,
    };
    Ok((gaps(version, plan), version))
}

fn apply(plan: &Plan) -> Result<landlock::RestrictionStatus, RulesetError> {
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
    ruleset.restrict_self()
}

/// What versions before the newest do not hold.
fn gaps(version: u32, plan: &Plan) -> Vec<Gap> {
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
