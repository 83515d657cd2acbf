//! Seccomp: refuses system calls that no command of an agent needs, and sockets.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use super::super::{Plan, Profile};

/// Calls that affect other processes, mounts and namespaces, the kernel's keys, programs and
/// modules, or the machine.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Calls that are reported as missing, so that programs use another way. The flags of `clone3` are
/// in memory, which filters cannot see.
const ABSENT: &[libc::c_long] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    // Its mode is in memory as well.
    libc::SYS_openat2,
];

/// Calls that change modes, owners, times and attributes, which Landlock does not restrict.
const METADATA: &[libc::c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    libc::SYS_utimensat,
    FCHMODAT2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
];

/// Its number is the same on every architecture.
const FCHMODAT2: libc::c_long = 452;

/// Flags of `clone` that create namespaces.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// The mode bits that make a program run as its owner or group, regardless of who starts it.
const SET_ID: [u64; 2] = [0o4000, 0o2000];

/// Calls that set a file's mode, with the index of the mode argument.
const MODES: &[(libc::c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_mkdirat, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];

/// Calls that may create a file, with the index of the flags argument; the mode is next.
const OPENS: &[(libc::c_long, u8)] = &[
    (libc::SYS_openat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
];

/// The `ioctl` requests that insert input into a terminal, and that paste into one.
const TERMINAL: [u64; 2] = [0x5412, 0x541C];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The filters for the plan's program.
pub(super) fn filters(plan: &Plan) -> io::Result<Vec<BpfProgram>> {
    let target: TargetArch = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let filter = |rules: Rules, errno: i32| -> Result<BpfProgram, BackendError> {
        let answer = SeccompAction::Errno(errno.unsigned_abs());
        SeccompFilter::new(rules, SeccompAction::Allow, answer, target)?.try_into()
    };
    let filters = refused(plan).and_then(|rules| {
        let refused = [other_numbers(), filter(rules, libc::EPERM)?].concat();
        Ok(vec![refused, filter(absent(), libc::ENOSYS)?])
    });
    filters.map_err(io::Error::other)
}

/// Refuses every system call with 32-bit pointers, which has a number of its own, before the lists
/// are checked.
#[cfg(target_arch = "x86_64")]
fn other_numbers() -> BpfProgram {
    use seccompiler::sock_filter;

    const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
    const IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
    const RETURN: u16 = 0x06; // BPF_RET | BPF_K
    const FIRST: u32 = 0x4000_0000;
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    vec![
        // The number is the first field that a filter sees.
        sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: IF_AT_LEAST, jt: 0, jf: 1, k: FIRST },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: refuse },
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn other_numbers() -> BpfProgram {
    Vec::new()
}

fn refused(plan: &Plan) -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    for call in REFUSED {
        refuse(&mut rules, *call, Vec::new());
    }
    if plan.profile == Profile::ReadOnly {
        for call in METADATA {
            refuse(&mut rules, *call, Vec::new());
        }
    }
    set_ids(&mut rules)?;
    let namespaces = NAMESPACES.iter().map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        SeccompRule::new(vec![condition(0, SeccompCmpOp::MaskedEq(flag), flag)?])
    });
    refuse(&mut rules, libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    // Limits of another process of the same user.
    let others = SeccompRule::new(vec![condition(0, SeccompCmpOp::Ne, 0)?])?;
    // The mark for finding a command's processes.
    let mark = libc::RLIMIT_RSS as u64;
    let marked = condition(1, SeccompCmpOp::Eq, mark)?;
    let sets = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    refuse(&mut rules, libc::SYS_prlimit64, vec![others, SeccompRule::new(vec![marked, sets])?]);
    let marked = SeccompRule::new(vec![condition(0, SeccompCmpOp::Eq, mark)?])?;
    refuse(&mut rules, libc::SYS_setrlimit, vec![marked]);
    // Priorities and schedulers of the user's other processes: `who` and `pid` are 0 for the
    // process itself.
    let others = |argument: u8| -> Result<Vec<SeccompRule>, BackendError> {
        Ok(vec![SeccompRule::new(vec![condition(argument, SeccompCmpOp::Ne, 0)?])?])
    };
    refuse(&mut rules, libc::SYS_setpriority, {
        let process = condition(0, SeccompCmpOp::Ne, 0)?;
        [others(1)?, vec![SeccompRule::new(vec![process])?]].concat()
    });
    for call in [libc::SYS_sched_setscheduler, libc::SYS_sched_setparam, libc::SYS_sched_setattr] {
        refuse(&mut rules, call, others(0)?);
    }
    // Either end of a pair of datagram sockets can send to any path.
    if plan.profile != Profile::Network && !plan.unix_sockets {
        let kind = condition(1, SeccompCmpOp::MaskedEq(0xf), 2)?;
        refuse(&mut rules, libc::SYS_socketpair, vec![SeccompRule::new(vec![kind])?]);
    }
    let terminal = TERMINAL
        .iter()
        .map(|request| SeccompRule::new(vec![condition(1, SeccompCmpOp::Eq, *request)?]));
    refuse(&mut rules, libc::SYS_ioctl, terminal.collect::<Result<_, _>>()?);
    let families: &[libc::c_int] = match plan.profile {
        Profile::Network => &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        _ if plan.unix_sockets => &[libc::AF_UNIX],
        _ => &[],
    };
    let others = families
        .iter()
        .map(|family| condition(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())))
        .collect::<Result<Vec<_>, _>>()?;
    let sockets = if others.is_empty() { Vec::new() } else { vec![SeccompRule::new(others)?] };
    refuse(&mut rules, libc::SYS_socket, sockets);
    Ok(rules)
}

/// Refuses set-id modes: if the guard runs as root, such a program would run as root.
fn set_ids(rules: &mut Rules) -> Result<(), BackendError> {
    let bit = |argument: u8, bit: u64| condition(argument, SeccompCmpOp::MaskedEq(bit), bit);
    for (call, mode) in MODES {
        // A profile may refuse the call whatever its mode is.
        if !rules.contains_key(call) {
            let when = SET_ID.iter().map(|id| SeccompRule::new(vec![bit(*mode, *id)?]));
            refuse(rules, *call, when.collect::<Result<_, _>>()?);
        }
    }
    // Without these flags the mode is an unused register value.
    const UNNAMED: u64 = 0o20_000_000;
    let creates = [u64::from(libc::O_CREAT.unsigned_abs()), UNNAMED];
    for (call, flags) in OPENS {
        let pairs = creates.iter().flat_map(|flag| SET_ID.iter().map(move |id| (*flag, *id)));
        let when = pairs
            .map(|(flag, id)| SeccompRule::new(vec![bit(*flags, flag)?, bit(*flags + 1, id)?]));
        refuse(rules, *call, when.collect::<Result<_, _>>()?);
    }
    Ok(())
}

fn absent() -> Rules {
    let mut rules = Rules::new();
    for call in ABSENT {
        refuse(&mut rules, *call, Vec::new());
    }
    rules
}

fn refuse(rules: &mut Rules, call: libc::c_long, when: Vec<SeccompRule>) {
    rules.insert(call, when);
}

fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    // The kernel uses 32 bits of each of them.
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}
