use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};

use counterfoil_guard::{Profile, SandboxOptions};

use super::room::{Room, has};

/// Socket families: IPv4, IPv6, Unix, netlink, raw packets, virtual machines, kernel crypto,
/// Bluetooth.
const FAMILIES: [(&str, &str); 9] = [
    ("tcp", "2, 1, 0"),
    ("udp", "2, 2, 0"),
    ("tcp6", "10, 1, 0"),
    ("udp6", "10, 2, 0"),
    ("unix", "1, 1, 0"),
    ("netlink", "16, 3, 0"),
    ("packet", "17, 3, 0"),
    ("vsock", "40, 1, 0"),
    ("alg", "38, 5, 0"),
];

fn opened(room: &Room) -> Vec<String> {
    let mut script = String::new();
    for (name, arguments) in FAMILIES {
        script += &format!("print \"{name}\\n\" if socket(my $s, {arguments});\n");
    }
    script += "print \"pair\\n\" if socketpair(my $a, my $b, 1, 1, 0);\n";
    std::fs::write(room.path("w/sockets.pl"), script).unwrap();
    let ran = room.run("perl sockets.pl");
    assert_eq!(ran.receipt.exit_code, Some(0), "{}", ran.answer.text);
    ran.stdout.lines().map(str::to_owned).collect()
}

fn options(profile: Profile, unix_sockets: bool) -> SandboxOptions {
    SandboxOptions {
        profile,
        unix_sockets,
        bubblewrap: "never".to_owned(),
        ..SandboxOptions::default()
    }
}

#[test]
fn without_network_there_is_no_socket_of_any_family() {
    if !has("perl", "sockets") {
        return;
    }
    for profile in [Profile::Workspace, Profile::ReadOnly] {
        let room = Room::with(options(profile, false));
        if profile == Profile::Workspace {
            assert_eq!(opened(&room), ["pair"]);
        } else {
            let ran = room.run("perl -e 'print socket(my $s, 2, 2, 0) ? 1 : 0'");
            assert_eq!(ran.stdout, "0");
        }
    }
    let room = Room::with(options(Profile::Workspace, true));
    assert_eq!(opened(&room), ["unix", "pair"]);
    let gaps = room.confinement().not_held.join("; ");
    assert!(gaps.contains("sockets of other programs"), "{gaps}");
}

#[test]
fn with_network_only_what_reaches_it() {
    if !has("perl", "sockets") {
        return;
    }
    let room = Room::with(options(Profile::Network, false));
    let opened = opened(&room);
    assert!(["tcp", "udp", "unix", "netlink"].iter().all(|name| opened.iter().any(|o| o == name)));
    assert!(!["packet", "vsock", "alg"].iter().any(|name| opened.iter().any(|o| o == name)));

    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let greeter = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        stream.write_all(b"hello\n").unwrap();
    });
    let connect = format!(
        "perl -MSocket -e 'socket(my $s, 2, 1, 0) or die; connect($s, pack_sockaddr_in({port}, \
         inet_aton(\"127.0.0.1\"))) or die $!; print <$s>'"
    );
    let ran = room.run(&connect);
    assert_eq!(ran.stdout, "hello\n", "{}", ran.answer.text);
    greeter.join().unwrap();
}

/// Nothing arrives, whichever family or library is used.
#[test]
fn nothing_is_sent_without_network() {
    if !has("perl", "sending") {
        return;
    }
    let room = Room::new();
    let (tcp, udp) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    for (port, kind) in
        [(tcp.local_addr().unwrap().port(), 1), (udp.local_addr().unwrap().port(), 2)]
    {
        let send = format!(
            "perl -MSocket -e 'socket(my $s, 2, {kind}, 0) or die \"refused: $!\"; connect($s, \
             pack_sockaddr_in({port}, inet_aton(\"127.0.0.1\"))) or die $!; send($s, \"x\", 0)'"
        );
        let ran = room.run(&send);
        assert!(
            ran.answer.text.contains("refused: Operation not permitted"),
            "{}",
            ran.answer.text
        );
    }
    assert!(tcp.accept().is_err() && udp.recv(&mut [0; 8]).is_err());
    let mut nothing = Vec::new();
    assert!(tcp.accept().is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
    assert_eq!(std::io::empty().read_to_end(&mut nothing).unwrap(), 0);
}
