#!/usr/bin/env bash
# accept_gpu.sh: `make accept PART=gpu` with what is here. On a machine with an NVIDIA driver or with SPLITPLANE_OFFLINE=1
# nothing is installed: what is lent has no network. What cannot be built there is no end: programs that are here already,
# or those of build/gpu-kit, are judged, and what is missing is named. Elsewhere setup and build come first, and source
# that does not build is the end (exit code 1): programs of an older source would be judged in its place.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
say() { printf 'accept: %s\n' "$*" >&2; }
cd "$root_dir"

if [ -e /proc/driver/nvidia/version ] || [ -e /dev/nvidiactl ]; then
  SPLITPLANE_OFFLINE=${SPLITPLANE_OFFLINE:-1}
fi
export SPLITPLANE_OFFLINE=${SPLITPLANE_OFFLINE:-0}
if [ "$SPLITPLANE_OFFLINE" = 1 ]; then
  say "nothing is installed here; what is here is used"
else
  setup/install.sh || say "setup failed; what is here is used"
fi
if command -v cmake >/dev/null && command -v ninja >/dev/null; then
  if ! setup/build.sh release; then
    [ "$SPLITPLANE_OFFLINE" = 1 ] || {
      say "build/release cannot be built; SPLITPLANE_OFFLINE=1 judges the programs that are here"
      exit 1
    }
    say "build/release cannot be built here; what is here is used"
  fi
fi
if [ "$SPLITPLANE_OFFLINE" = 0 ]; then # what is judged must be of this source: the kit, too
  status=0
  setup/gpu_kit.sh || status=$?
  [ $status = 0 ] || say "no kit (exit $status)"
  [ $status = 0 ] || [ $status = 77 ] || exit 1
fi
if [ ! -e build/release/splitplane ] && [ -x build/gpu-kit/run ]; then
  say "the programs of build/gpu-kit are judged"
  exec build/gpu-kit/run accept build cpu device judges
fi
for python in .venv/bin/python python3; do
  "$python" -c '' 2>/dev/null || continue
  sudo=()
  [ "$(id -u)" = 0 ] || ! sudo -n true 2>/dev/null || sudo=(sudo -n --preserve-env)
  exec "${sudo[@]}" "$python" tests/accept/run.py gpu
done
say "needs python3"
exit 1
