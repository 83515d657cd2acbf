#!/usr/bin/env bash
# What the GitHub action runs: findings as SARIF into a file, as annotations, and for people. It
# always ends with 0 and says the exit code, so that SARIF is uploaded before the step fails.
set -euo pipefail
if [ -n "${BIN:-}" ]; then PATH=$BIN:$PATH; fi

rows() { printf '%s\n' "$1" | sed '/^[[:space:]]*$/d'; }

given=(--fail-on "$FAIL_ON")
while IFS= read -r row; do given+=("$row"); done < <(rows "$ARGUMENTS")
given+=(--)
while IFS= read -r row; do given+=("$row"); done < <(rows "$CHECKED")
case $FORMAT in
  text | markdown) ;;
  *) echo "error: \`format\` is text or markdown, not \`$FORMAT\`" >&2; exit 2 ;;
esac

code=0
# check FORMAT: the worst exit code of all runs is that of the action.
check() {
  local own=0
  counterfoil check --format "$1" "${given[@]}" || own=$?
  if [ "$own" -gt "$code" ]; then code=$own; fi
}

# What agents wrote is shown below, and GitHub takes commands from whatever a step prints.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
check sarif >"$made/sarif"
check github >"$made/annotations"
check "$FORMAT" >"$made/shown"
if ! cp "$made/sarif" "$SARIF_FILE"; then
  echo "error: \`$SARIF_FILE\` cannot be written" >&2
  code=2
fi
if [ "$FORMAT" = markdown ]; then
  cat "$made/shown" >>"$GITHUB_STEP_SUMMARY"
else
  cat "$made/shown"
fi
sarif=none
if [ -s "$made/sarif" ] && [ "$code" -lt 2 ]; then sarif=written; fi
echo "::$token::"
cat "$made/annotations"
{
  echo "exit-code=$code"
  echo "sarif=$sarif"
} >>"$GITHUB_OUTPUT"
