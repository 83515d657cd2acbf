#!/bin/sh
# Installs Counterfoil for you alone: fetches the archive of this platform, holds it against the
# release's SHA256SUMS, tries the program, and only then puts it into ~/.local/bin.
#
#   sh install.sh
#
# COUNTERFOIL_VERSION   another version than this one
# COUNTERFOIL_BIN       another folder
# COUNTERFOIL_TARGET    another platform than the one that is found, such as x86_64-unknown-linux-musl
# COUNTERFOIL_BASE_URL  where the release's files are, for mirrors
#
# The sums come from where the archive comes from: they find what broke on the way. Who made the
# archive is shown by its attestation: gh attestation verify ARCHIVE --repo counterfoil/counterfoil
set -eu

repository=https://github.com/counterfoil/counterfoil
version=${COUNTERFOIL_VERSION:-0.1.0}

fail() {
  printf 'error: %s\n' "$1" >&2
  if [ $# -gt 1 ]; then printf '  help: %s\n' "$2" >&2; fi
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

platform() {
  machine=$(uname -m)
  case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no program for $machine yet" "build it: cargo install --path crates/cli" ;;
  esac
  system=$(uname -s)
  case $system in
    Linux)
      # Static, where the C library is another one than glibc.
      if has ldd && ldd --version 2>&1 | grep -qi musl; then
        echo "$machine-unknown-linux-musl"
      else
        echo "$machine-unknown-linux-gnu"
      fi
      ;;
    Darwin) echo "$machine-apple-darwin" ;;
    *) fail "there is no program for $system yet" "on Windows it runs in WSL" ;;
  esac
}

fetch() { # URL FILE
  if has curl; then
    case $1 in
      https:*) curl -fsSL --proto '=https' --tlsv1.2 --retry 3 -o "$2" "$1" ;;
      *) curl -fsSL -o "$2" "$1" ;;
    esac
  elif has wget; then
    wget -q -O "$2" "$1"
  else
    fail "neither curl nor wget is installed"
  fi || fail "$1 cannot be fetched" "is there a release $version for this platform?"
}

sum() { # FILE
  if has sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif has openssl; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail "nothing here computes SHA-256" "install sha256sum, shasum or openssl"
  fi
}

main() {
  has tar || fail "tar is not installed"
  case $version in
    *[!0-9A-Za-z.+-]* | '') fail "\`$version\` is no version" ;;
  esac
  base=${COUNTERFOIL_BASE_URL:-$repository/releases/download/v$version}
  target=${COUNTERFOIL_TARGET:-$(platform)}
  folder=${COUNTERFOIL_BIN:-${HOME:?HOME is not set}/.local/bin}
  name=counterfoil-$version-$target
  work=$(mktemp -d)
  beside=
  trap 'rm -rf "$work"; [ -z "$beside" ] || rm -f "$beside"' EXIT
  trap 'exit 1' HUP INT TERM

  fetch "$base/SHA256SUMS" "$work/SHA256SUMS"
  wanted=$(awk -v name="$name.tar.gz" '$2 == name || $2 == "*" name { print $1 }' "$work/SHA256SUMS")
  case $wanted in
    *[!0-9a-f]*) wanted= ;;
  esac
  [ ${#wanted} -eq 64 ] ||
    fail "SHA256SUMS of $base does not name $name.tar.gz once" "is there a program for $target?"
  fetch "$base/$name.tar.gz" "$work/$name.tar.gz"
  found=$(sum "$work/$name.tar.gz")
  [ "$found" = "$wanted" ] ||
    fail "$name.tar.gz has the SHA-256 $found, and SHA256SUMS says $wanted: nothing was installed"

  tar -xzf "$work/$name.tar.gz" -C "$work" "$name/counterfoil"
  "$work/$name/counterfoil" --version >/dev/null ||
    fail "the program does not run here: nothing was installed" "COUNTERFOIL_TARGET names another"
  mkdir -p "$folder"
  # Beside its place and renamed, so that it is whole or not there.
  beside=$folder/.counterfoil.$$
  cp "$work/$name/counterfoil" "$beside"
  chmod 755 "$beside"
  mv -f "$beside" "$folder/counterfoil"
  beside=
  printf 'counterfoil %s is in %s\n' "$version" "$folder" >&2
  case :$PATH: in
    *":$folder:"*) ;;
    *) printf '  help: it is not on your PATH yet: export PATH="%s:%s"\n' "$folder" "\$PATH" >&2 ;;
  esac
}

# At the end, so that a script that was cut on the way does nothing.
main
