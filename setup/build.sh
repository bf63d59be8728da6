#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures if needed and builds into build/PRESET, with ccache when it is there.
# On a terminal Ninja shows its progress; elsewhere the output goes to a log, whose end is shown if the build fails.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
say() { printf 'build: %s\n' "$*"; }
cd "$root_dir"

preset=${1:?usage: build.sh PRESET [TARGET...]}
shift
log=$log_dir/build-$preset.log
begin=$SECONDS
mkdir -p "$log_dir"
! command -v ccache >/dev/null || export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}

# Ninja's children keep the lock, so a build that outlives this script keeps it, too.
exec 8<"$log_dir"
flock --nonblock 8 || { say "waits for another build of this tree ..." && flock 8; }

failed() {
  if tail -n 1 "$log" | grep -q 'interrupted by user'; then
    say "$preset stopped after $((SECONDS - begin)) s; the same command goes on from here" >&2
    exit 1
  fi
  # Compiler errors first; the whole log has the rest.
  grep -E -A 4 'error:|Error |FAILED:|undefined reference' "$log" | head -n 40 >&2 || tail -n 30 "$log" >&2
  printf 'build: %s failed after %d s; all of it: %s\n' "$preset" $((SECONDS - begin)) "${log#"$root_dir"/}" >&2
  exit 1
}

if [ -e "build/$preset/build.ninja" ]; then
  say "$preset ..."
else
  say "$preset ${*:-all}, for the first time: minutes on two cores ..."
  cmake --preset "$preset" >"$log" 2>&1 || failed
fi
if [ -t 1 ]; then
  NINJA_STATUS='  [%f/%t] ' ninja -C "build/$preset" --quiet "$@" || exit 1
else
  say "$preset: output goes to ${log#"$root_dir"/}"
  ninja -C "build/$preset" "$@" >"$log" 2>&1 || failed
fi
say "$preset: done in $((SECONDS - begin)) s"
