#!/usr/bin/env bash
# tidy.sh [FILE...]: clang-tidy with the list of .clang-tidy over the sources of src/, tests aside, or over the given ones.
# It reads how build/release compiles them, and takes a second or two a file and core. Exit code 1 if it found something.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
say() { printf 'tidy: %s\n' "$*"; }
cd "$root_dir"

requirements=setup/requirements-tidy.txt
tool=$root_dir/build/tidy
stamp=$(sha256sum <$requirements)
if [ "$(cat "$tool/stamp" 2>/dev/null)" != "$stamp" ]; then
  rm -rf "$tool"
  timed_step "clang-tidy, pinned and hashed (46 MB)" "$log_dir/tidy-pip.log" .venv/bin/python -m pip install --quiet \
    --disable-pip-version-check --require-hashes --only-binary=:all: --no-deps --target "$tool" -r $requirements
  echo "$stamp" >"$tool/stamp"
fi
cmake --preset commands >"$log_dir/build-commands.log"
mapfile -t files < <(
  if [ "$#" -gt 0 ]; then printf '%s\n' "$@"; else git ls-files 'src/*.cpp' | grep -v '_test\.cpp$'; fi
)
say "${#files[@]} files ..."
begin=$SECONDS
# Warnings are the compilers' business; some of the flags are g++'s alone. What headers say comes once for each file.
printf '%s\n' "${files[@]}" | xargs -n 4 -P "$(nproc)" "$tool"/clang_tidy/data/bin/clang-tidy -p build/commands --quiet --extra-arg=-w \
  --extra-arg=-Wno-unknown-warning-option >"$log_dir/tidy.log" 2>"$log_dir/tidy-errors.log" && found=0 || found=$?
grep -E ' (error|warning): ' "$log_dir/tidy.log" | sort -u | sed "s|$root_dir/||" || true
if [ "$found" != 0 ]; then
  grep -q ' error: ' "$log_dir/tidy.log" || tail -n 5 "$log_dir/tidy-errors.log" >&2
  say "FAILED in $((SECONDS - begin)) s; all of it: ${log_dir#"$root_dir"/}/tidy.log"
  exit 1
fi
say "nothing found in $((SECONDS - begin)) s"
