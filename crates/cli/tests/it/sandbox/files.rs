use std::fs;

use counterfoil_guard::SandboxOptions;

use super::room::Room;

#[test]
fn nothing_outside_the_workspace_is_written() {
    let room = Room::new();
    if !room.holds("writes outside the workspace") {
        return;
    }
    let (outside, home) = (room.path("outside"), room.path("home"));
    std::os::unix::fs::symlink(&outside, room.path("w/out")).unwrap();
    std::os::unix::fs::symlink(outside.join("secret"), room.path("w/link")).unwrap();
    let (outside, home) = (outside.display(), home.display());
    let commands = [
        format!("echo x > {outside}/new"),
        format!("echo x >> {outside}/secret"),
        format!("echo x > {home}/.bashrc"),
        "echo x > ../outside/new".to_owned(),
        "echo x > out/new".to_owned(),
        "echo x > link".to_owned(),
        "echo x > /proc/self/cwd/../outside/new".to_owned(),
        format!("echo x > /proc/self/root{outside}/new"),
        format!("mkdir {outside}/folder"),
        format!("touch {outside}/new"),
        format!("rm {outside}/secret"),
        format!("mv {outside}/secret {outside}/moved"),
        format!("mv own {outside}/moved"),
        format!("cp own {outside}/copy"),
        format!("ln own {outside}/hard"),
        format!("ln {outside}/secret hard"),
        format!("ln -s own {outside}/soft"),
        format!("mkfifo {outside}/pipe"),
        format!("truncate -s 0 {outside}/secret"),
        format!("dd if=/dev/null of={outside}/secret"),
        format!("tee {outside}/new < own"),
        format!("sed -i s/c/d/ {outside}/secret"),
        format!("cd {outside} && echo x > new"),
        "mknod block b 8 0".to_owned(),
        "echo x > /etc/new-by-a-test".to_owned(),
        "echo x > /usr/new-by-a-test".to_owned(),
        "echo core > /proc/sys/kernel/core_pattern".to_owned(),
    ];
    for command in commands {
        let ran = room.run(&command);
        assert_ne!(ran.receipt.exit_code, Some(0), "{command}: {}", ran.answer.text);
        let names: Vec<_> =
            fs::read_dir(room.path("outside")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["secret"], "{command}");
        assert_eq!(
            fs::read_to_string(room.path("outside/secret")).unwrap(),
            "content\n",
            "{command}"
        );
    }
    assert!(!room.path("home/.bashrc").exists());
    let ran = room.run("echo x > new; mkdir -p a/b; mv new a/b/; cat a/b/new; rm -r a; echo t > $TMPDIR/t; cat $TMPDIR/t; echo null > /dev/null");
    assert_eq!(
        (ran.receipt.exit_code, ran.stdout.as_str()),
        (Some(0), "x\nt\n"),
        "{}",
        ran.answer.text
    );
}

#[test]
fn what_is_denied_is_not_read() {
    let room = Room::with(SandboxOptions {
        bubblewrap: "never".to_owned(),
        read_paths: vec!["~/.ssh".to_owned(), room_outside()],
        deny_read: vec!["~/notes".to_owned()],
        ..SandboxOptions::default()
    });
    if !room.holds("reads of what is denied") {
        return;
    }
    let root = room.path("").display().to_string();
    let root = root.trim_end_matches('/');
    std::os::unix::fs::symlink(room.path("home/.ssh"), room.path("w/keys")).unwrap();
    let denied = [
        "cat ~/.ssh/id_ed25519".to_owned(),
        "ls ~/.ssh".to_owned(),
        "cat keys/id_ed25519".to_owned(),
        "cat ~/.aws/credentials".to_owned(),
        "cat ~/.cargo/credentials.toml".to_owned(),
        "cat ~/notes".to_owned(),
        "ls ~".to_owned(),
        format!("cat {root}/state/ledger.db"),
        format!("cat {root}/outside/secret"),
        format!("cat /proc/self/root{root}/outside/secret"),
        "cat ../outside/secret".to_owned(),
        "cat < ../outside/secret".to_owned(),
        "head -c 1 /etc/shadow".to_owned(),
        format!("cat /proc/{}/environ", std::process::id()),
        format!("cat /proc/{}/maps", std::process::id()),
        format!("cat /proc/{}/root{root}/outside/secret", std::process::id()),
        format!("readlink /proc/{}/fd/1", std::process::id()),
    ];
    for command in denied {
        let ran = room.run(&command);
        assert_ne!(ran.receipt.exit_code, Some(0), "{command}: {}", ran.answer.text);
        assert!(!ran.stdout.contains("content"), "{command}: {}", ran.answer.text);
    }
    let ran =
        room.run("cat own ~/.cargo/bin/tool /etc/passwd > /dev/null; ls / > /dev/null; echo done");
    assert!(ran.stdout.contains("done"), "{}", ran.answer.text);
    assert!(!ran.answer.text.contains("tool: Permission"), "{}", ran.answer.text);
}

/// A path that does not exist, so that nothing is granted.
fn room_outside() -> String {
    "/there/is/no/such/place".to_owned()
}

#[test]
fn a_secret_in_a_granted_folder_is_named_and_refused_when_strict() {
    let room = Room::new();
    fs::create_dir_all(room.path("w/secrets")).unwrap();
    let gaps = room.confinement().not_held.join("; ");
    assert!(gaps.contains("`**/secrets/**` can be read"), "{gaps}");
    let deny = |strict| SandboxOptions {
        bubblewrap: "never".to_owned(),
        deny_read: vec!["~/notes".to_owned()],
        write_paths: vec!["~/".to_owned()],
        strict,
        ..SandboxOptions::default()
    };
    let room = Room::with(deny(false));
    let gaps = room.confinement().not_held.join("; ");
    assert!(gaps.contains("home/notes` can be read") || gaps.contains(".ssh"), "{gaps}");
    let room = Room::with(deny(true));
    let ran = room.run("touch ran");
    assert!(ran.answer.text.contains("cannot be sandboxed here"), "{}", ran.answer.text);
    assert!(!room.path("w/ran").exists());
}
