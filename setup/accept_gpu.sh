#!/usr/bin/env bash
# accept_gpu.sh: `make accept PART=gpu` with what is here. On a machine with an NVIDIA driver or with SPLITPLANE_OFFLINE=1
# nothing is installed: what is lent has no network. Elsewhere setup and build come first, and a failure of theirs is no end:
# programs that are here already, or those of build/gpu-kit, are judged, and what is missing is named.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
say() { printf 'accept: %s\n' "$*" >&2; }
cd "$root_dir"

if [ -e /proc/driver/nvidia/version ] || [ -e /dev/nvidiactl ]; then
  export SPLITPLANE_OFFLINE=${SPLITPLANE_OFFLINE:-1}
fi
if [ "${SPLITPLANE_OFFLINE:-0}" = 1 ]; then
  say "nothing is installed here; what is here is used"
else
  setup/install.sh || say "setup failed; what is here is used"
fi
if command -v cmake >/dev/null && command -v ninja >/dev/null; then
  setup/build.sh release 2>/dev/null || say "build/release cannot be built here (build/log/build-release.log)"
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
