//! Recognises addresses that may not be fetched: everything that is not clearly a public host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The purpose of an address that is not a public host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reserved {
    /// This machine.
    Loopback,
    /// A private network: 10/8, 172.16/12, 192.168/16, unique local addresses.
    Private,
    /// Carrier-grade NAT: 100.64/10.
    Shared,
    /// A cloud metadata service, which hands out credentials.
    Metadata,
    /// This link only: 169.254/16, fe80::/10.
    LinkLocal,
    /// Not a single host: multicast and broadcast.
    Multicast,
    /// No host: 0/8 and ::.
    Unspecified,
    /// An encoding of another address: mapped, compatible, NAT64, 6to4, Teredo, ISATAP.
    Translated,
    /// Reserved for documentation, benchmarks, protocols or future use.
    Special,
}

impl Reserved {
    /// The name in messages and in the audit log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loopback => "this machine",
            Self::Private => "a private network",
            Self::Shared => "a provider's shared network",
            Self::Metadata => "a metadata service",
            Self::LinkLocal => "the local network link",
            Self::Multicast => "a multicast address",
            Self::Unspecified => "an unspecified address",
            Self::Translated => "a translated address",
            Self::Special => "a reserved network",
        }
    }

    /// Whether an operator may allow it for a named host.
    pub(super) fn can_be_opened(self) -> bool {
        matches!(self, Self::Loopback | Self::Private | Self::Shared)
    }
}

/// Well-known metadata services, some in networks of another kind.
const METADATA: [IpAddr; 7] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

/// The purpose of an address, according to the registries of special addresses (RFC 6890 and its
/// successors); `None` for a public host.
#[must_use]
pub fn reserved(address: IpAddr) -> Option<Reserved> {
    if METADATA.contains(&address) {
        return Some(Reserved::Metadata);
    }
    match address {
        IpAddr::V4(address) => reserved_v4(address),
        IpAddr::V6(address) => reserved_v6(address),
    }
}

fn reserved_v4(address: Ipv4Addr) -> Option<Reserved> {
    Some(match address.octets() {
        [0, ..] => Reserved::Unspecified,
        [127, ..] => Reserved::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Reserved::Private,
        [100, 64..=127, ..] => Reserved::Shared,
        [169, 254, ..] => Reserved::LinkLocal,
        [255, 255, 255, 255] | [224..=239, ..] => Reserved::Multicast,
        // 6to4 relays.
        [192, 88, 99, _] => Reserved::Translated,
        [192, 0, 0 | 2, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [240..=255, ..] => Reserved::Special,
        _ => return None,
    })
}

fn reserved_v6(address: Ipv6Addr) -> Option<Reserved> {
    let parts = address.segments();
    Some(match parts {
        [0, 0, 0, 0, 0, 0, 0, 0] => Reserved::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Reserved::Loopback,
        [0, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, ..] => Reserved::Translated,
        [0xfc00..=0xfdff, ..] => Reserved::Private,
        // Site-local, the former kind of private networks.
        [0xfec0..=0xfeff, ..] => Reserved::Private,
        [0xfe80..=0xfebf, ..] => Reserved::LinkLocal,
        [0xff00..=0xffff, ..] => Reserved::Multicast,
        // Teredo and 6to4.
        [0x2001, 0, ..] | [0x2002, ..] => Reserved::Translated,
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => {
            Reserved::Special
        }
        // ISATAP: an IPv4 address after any prefix.
        [_, _, _, _, 0 | 0x200, 0x5efe, _, _] => Reserved::Translated,
        // Only this range has public hosts.
        [0x2000..=0x3fff, ..] => return None,
        _ => Reserved::Special,
    })
}
