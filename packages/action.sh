#!/usr/bin/env bash
# What the GitHub action runs: findings as SARIF into a file, as annotations, and for people. It
# ends with 0 and says the exit code, so that SARIF is uploaded before the step fails: 0 no findings,
# 1 findings, 2 something cannot be read or written, 3 a fault of Counterfoil.
set -euo pipefail
if [ -n "${BIN:-}" ]; then PATH=$BIN:$PATH; fi

rows() { printf '%s\n' "$1" | sed '/^[[:space:]]*$/d'; }

given=(check --fail-on "$FAIL_ON")
while IFS= read -r row; do given+=("$row"); done < <(rows "$ARGUMENTS")
given+=(--)
while IFS= read -r row; do given+=("$row"); done < <(rows "$CHECKED")
case $FORMAT in
  text | markdown) ;;
  *) echo "error: \`format\` is text or markdown, not \`$FORMAT\`" >&2; exit 2 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Logs, and the names of their files, may hold what a runner obeys: `::error::…`, `##[error]…`. It
# obeys nothing from here on until it reads a word that nobody can have written into them.
word=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
[ "${#word}" -eq 48 ] || { echo "error: there is no randomness here" >&2; exit 2; }
quoted() { # FILE
  printf '::stop-commands::%s\n' "$word"
  cat "$1"
  printf '\n::%s::\n' "$word"
}

code=0
worse() { if [ "$1" -gt "$code" ]; then code=$1; fi; }
# Whether the format came out whole, in a file of its name. What kept it from that is told.
run() { # FORMAT OPTION…
  local status=0
  counterfoil "${given[@]:0:3}" --format "$@" "${given[@]:3}" >"$work/$1" 2>"$work/errors" || status=$?
  worse "$status"
  # Every run has the same warnings: those of the first are enough.
  if [ -s "$work/errors" ] && { [ "$1" = sarif ] || [ "$status" -ge 2 ]; }; then
    quoted "$work/errors"
  fi
  [ "$status" -lt 2 ]
}

sarif=none
if run sarif && [ -s "$work/sarif" ]; then
  if (cat "$work/sarif" >"$SARIF_FILE"); then sarif=written; else worse 2; fi
fi
run github || true # its exit code counts
# Each annotation is a line, with whatever it quotes in it escaped. Nothing else is a command.
grep -aE '^::(error|warning|notice) [^[:cntrl:]]*$' "$work/github" || true
if [ "$FORMAT" = markdown ]; then
  run markdown || true
  (cat "$work/markdown" >>"$GITHUB_STEP_SUMMARY") || worse 2
else
  run text --color never || true
  quoted "$work/text"
fi
{
  echo "exit-code=$code"
  echo "sarif=$sarif"
} >>"$GITHUB_OUTPUT"
