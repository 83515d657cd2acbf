#!/usr/bin/env bash
# What the GitHub action runs: findings as SARIF into a file, as annotations, and for people. It
# always ends with 0 and says the exit code, so that SARIF is uploaded before the step fails.
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

code=0
counterfoil "${given[@]:0:3}" --format sarif "${given[@]:3}" >"$SARIF_FILE" || code=$?
sarif=none
if [ -s "$SARIF_FILE" ] && [ "$code" -lt 2 ]; then sarif=written; fi
counterfoil "${given[@]:0:3}" --format github "${given[@]:3}" || true
if [ "$FORMAT" = markdown ]; then
  counterfoil "${given[@]:0:3}" --format markdown "${given[@]:3}" >>"$GITHUB_STEP_SUMMARY" || true
else
  counterfoil "${given[@]:0:3}" --format text --color never "${given[@]:3}" || true
fi
{
  echo "exit-code=$code"
  echo "sarif=$sarif"
} >>"$GITHUB_OUTPUT"
