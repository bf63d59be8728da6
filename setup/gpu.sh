#!/usr/bin/env bash
# gpu.sh [TARGET...]: builds the CUDA programs into build/gpu, with the machine's nvcc if it has 13.0 or later, otherwise
# with the pinned one, which it gets into build/gpu-toolchain (271 MB from Python wheels). Needs no GPU.
# Exit code 77 and one line if no compiler can be had or what the build needs is not here. SPLITPLANE_OFFLINE=1: gets nothing.
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

# cudaMemcpyBatchAsync has this form since 13.0.
machine_nvcc() {
  local candidate release
  for candidate in "${CUDACXX:-}" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc; do
    [ -x "$candidate" ] || continue
    release=$("$candidate" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
    [ "${release:-0}" -ge 13 ] || continue
    echo "$candidate"
    return
  done
  return 1
}
skip() {
  say "skipped: $*" >&2
  exit 77
}

for tool in cmake ninja; do command -v $tool >/dev/null || skip "$tool is not here"; done
if CUDACXX=$(machine_nvcc); then
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
# CMake keeps the compiler and the preset that it was configured with.
stamp=$(printf '%s %s' "$CUDACXX" "$(sha256sum <CMakePresets.json)")
[ "$(cat build/gpu/configured 2>/dev/null)" = "$stamp" ] || rm -rf build/gpu
if [ ! -e build/gpu/build.ninja ]; then
  cmake --preset gpu >"$log" 2>&1 ||
    skip "it cannot be configured here: $(grep -m 1 -A 3 'CMake Error' "$log" | tr '\n' ' ') (${log#"$root_dir"/})"
  echo "$stamp" >build/gpu/configured
fi
[ "$#" -gt 0 ] || set -- gpu_programs
ninja -C build/gpu "$@" >"$log" 2>&1 || failed
say "$* built for sm_75, sm_80 and sm_90 in $((SECONDS - begin)) s"
