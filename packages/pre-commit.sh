#!/bin/sh
# The pre-commit hook: checks session logs that are committed, with the version of this hook. Where
# that is not on the PATH, it is installed into a cache first, by the installer and its sums.
set -eu
version=0.1.0
here=$(dirname "$0")

program=$(command -v counterfoil || true)
if [ -z "$program" ] || [ "$("$program" --version)" != "counterfoil $version" ]; then
  cache=${XDG_CACHE_HOME:-${HOME:?HOME is not set}/.cache}/counterfoil/$version
  program=$cache/counterfoil
  if [ ! -x "$program" ]; then
    PATH=$cache:$PATH COUNTERFOIL_VERSION=$version COUNTERFOIL_BIN=$cache sh "$here/install.sh"
  fi
fi
exec "$program" check "$@"
