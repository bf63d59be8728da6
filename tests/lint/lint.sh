#!/usr/bin/env bash
# Judges style without changing anything; `make fmt` repairs what can be repaired. One line for each check.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
failed=0

check() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    grep ': note: ' <<<"$output"
    echo "lint: $name: ok"
  else
    printf '%s\n' "$output" | head -n 60
    echo "lint: $name: FAILED"
    failed=1
  fi
}

clang_format() {
  local findings
  findings=$(find src bench fuzz \( -name '*.h' -o -name '*.cpp' \) -print0 |
    xargs -0 -r .venv/bin/clang-format --dry-run -Werror 2>&1) && return
  # Where, without the source lines that clang-format quotes; `make fmt` shows the rest.
  grep -E '^[^ ]+:[0-9]+:[0-9]+: ' <<<"$findings" | cut -d: -f1,2 | uniq |
    awk -F: '{lines[$1] = lines[$1] " " $2} END {for (file in lines) print file ": not formatted at" lines[file]}'
  return 1
}

check "clang-format" clang_format
check "ruff" .venv/bin/ruff check --quiet --output-format concise .
check "ruff format" .venv/bin/ruff format --check --output-format concise .
check "repository rules" .venv/bin/python tests/lint/repo_rules.py
check "sentences" .venv/bin/python tests/lint/sentences.py
exit $failed
