#!/usr/bin/env bash
# gpu.sh [TARGET...]: gets the pinned CUDA compiler into build/gpu-toolchain and builds the CUDA programs into build/gpu.
# Needs no GPU. Exit code 77 if the compiler cannot be had (271 MB from Python wheels; this machine may be offline).
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

get_toolchain || { say "skipped: the CUDA compiler could not be installed (${log_dir#"$root_dir"/}/gpu-pip.log)" >&2; exit 77; }

# The wheels have lib/ where nvcc looks into lib64/; LIBRARY_PATH heals that for configuring and for linking.
export CUDACXX=$cuda/bin/nvcc CUDAHOSTCXX=${CUDAHOSTCXX:-$(command -v g++-12 || command -v g++)}
export LIBRARY_PATH=$cuda/lib${LIBRARY_PATH:+:$LIBRARY_PATH}
! command -v ccache >/dev/null || export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
log=$log_dir/build-gpu.log
begin=$SECONDS
failed() {
  grep -E -A 4 'error:|Error |error |FAILED:|undefined reference' "$log" | head -n 40 >&2 || tail -n 30 "$log" >&2
  printf 'gpu: failed after %d s; all of it: %s\n' $((SECONDS - begin)) "${log#"$root_dir"/}" >&2
  exit 1
}
[ -e build/gpu/build.ninja ] || cmake --preset gpu >"$log" 2>&1 || failed
[ "$#" -gt 0 ] || set -- gpu_programs
ninja -C build/gpu "$@" >"$log" 2>&1 || failed
say "$* built for sm_75, sm_80 and sm_90 in $((SECONDS - begin)) s"
