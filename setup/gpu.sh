#!/usr/bin/env bash
# gpu.sh [TARGET...]: builds the CUDA programs into build/gpu, with the machine's nvcc if it has 13.0 or later, otherwise
# with the pinned one, which it gets into build/gpu-toolchain (271 MB from Python wheels). Needs no GPU.
# Exit code 1 if they cannot be configured or compiled, 77 and one line if there is no compiler or no CMake. SPLITPLANE_OFFLINE=1
# gets nothing; then they are also skipped if they cannot be configured. Programs that were in build/gpu stay until new ones
# are built.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
say() { printf 'gpu: %s\n' "$*"; }
cd "$root_dir"

toolchain=$root_dir/build/gpu-toolchain
cuda=$toolchain/nvidia/cu13

get_toolchain() {
  local stamp
  stamp=$(sha256sum <setup/requirements-gpu.txt)
  [ "$(cat "$toolchain/stamp" 2>/dev/null)" != "$stamp" ] || return 0
  rm -rf "$toolchain"
  timed_step "CUDA compiler, pinned and hashed (271 MB)" "$log_dir/gpu-pip.log" \
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary=:all: --no-deps \
    --target "$toolchain" -r setup/requirements-gpu.txt || return 1
  echo "$stamp" >"$toolchain/stamp"
}

skip() {
  say "skipped: $*" >&2
  exit 77
}

for tool in cmake ninja; do command -v $tool >/dev/null || skip "$tool is not here"; done
# cudaMemcpyBatchAsync has this form since 13.0.
if CUDACXX=$(python3 setup/nvcc.py 13.0); then
  say "with the machine's $CUDACXX"
else
  [ "${SPLITPLANE_OFFLINE:-0}" = 0 ] || [ -x "$cuda/bin/nvcc" ] || skip "no nvcc of 13.0 or later, and SPLITPLANE_OFFLINE=1"
  [ "${SPLITPLANE_OFFLINE:-0}" = 1 ] || get_toolchain ||
    skip "the CUDA compiler could not be installed (${log_dir#"$root_dir"/}/gpu-pip.log)"
  CUDACXX=$cuda/bin/nvcc
  # The wheels have lib/ where nvcc looks into lib64/; LIBRARY_PATH heals that for configuring and for linking.
  export LIBRARY_PATH=$cuda/lib${LIBRARY_PATH:+:$LIBRARY_PATH}
fi
export CUDACXX CUDAHOSTCXX=${CUDAHOSTCXX:-$(command -v g++-12 || command -v g++)}
! command -v ccache >/dev/null || export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
log=$log_dir/build-gpu.log
begin=$SECONDS
failed() {
  grep -E -A 4 'error:|Error |error |FAILED:|undefined reference' "$log" | head -n 40 >&2 || tail -n 30 "$log" >&2
  printf 'gpu: failed after %d s; all of it: %s\n' $((SECONDS - begin)) "${log#"$root_dir"/}" >&2
  exit 1
}
mkdir -p "$log_dir"
# CMake keeps the compiler and the preset that it was configured with, and its folder is bound to its place: another one
# begins anew. Until it is configured, the old one waits beside it: its programs may have been brought here.
before=build/gpu.before
stamp=$(printf '%s %s' "$CUDACXX" "$(sha256sum <CMakePresets.json)")
put_back() {
  [ ! -e $before ] || { rm -rf build/gpu && mv $before build/gpu; }
}
put_back # a run that was killed
if [ ! -e build/gpu/build.ninja ] || [ "$(cat build/gpu/configured 2>/dev/null)" != "$stamp" ]; then
  [ ! -e build/gpu ] || mv build/gpu $before
  if ! cmake --preset gpu >"$log" 2>&1; then
    rm -rf build/gpu
    put_back
    [ "${SPLITPLANE_OFFLINE:-0}" = 1 ] || failed
    skip "it cannot be configured here: $(grep -m 1 -A 3 'CMake Error' "$log" | tr '\n' ' ') (${log#"$root_dir"/})"
  fi
  for kept in bin ptx; do [ ! -e $before/$kept ] || cp -a $before/$kept build/gpu/; done
  rm -rf $before
  echo "$stamp" >build/gpu/configured
fi
[ "$#" -gt 0 ] || set -- gpu_programs
ninja -C build/gpu "$@" >"$log" 2>&1 || failed
say "$* built for sm_75, sm_80 and sm_90 in $((SECONDS - begin)) s"
