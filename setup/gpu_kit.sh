#!/usr/bin/env bash
# gpu_kit.sh: packs into build/gpu-kit what a machine with a GPU, without network and without packages, needs to run the
# checks and the bench: programs, their shared libraries, acceptance scripts, the sources of the device check. At most 60 MiB.
# The programs are for x86-64-v3 and glibc of this distribution or later, and find their libraries beside them (DT_RPATH).
# Exit code 77 if the CUDA programs cannot be built here.
# gpu_kit.sh --sources FOLDER: only puts into FOLDER what the machine's own nvcc needs for the device check.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
say() { printf 'gpu-kit: %s\n' "$*"; }
cd "$root_dir"

limit_mib=60
kit=build/gpu-kit
tests="gpu_rings_test gpu_nic_test crypto_device_test nicmodel_test bypass_test bypass_matrix_test"

put_sources() {
  for room in base wire crypto/device gpu/rings gpu/nic; do
    mkdir -p "$1/src/$room"
    cp src/$room/*.h "$1/src/$room/"
  done
  mkdir -p "$1/src/gpu/cuda"
  cp src/gpu/cuda/{device_check.cu,device.h} "$1/src/gpu/cuda/"
}
if [ "${1:-}" = --sources ]; then
  put_sources "$2"
  exit
fi

setup/gpu.sh
# shellcheck disable=SC2086
setup/gpu.sh $tests bench/gpu_bench
[ ! -e build/kit/build.ninja ] || cmake --preset kit >"$log_dir/kit-preset.log" # it may be older than the preset
setup/build.sh kit splitplane

rm -rf "$kit"
mkdir -p "$kit"/{lib,build/release/bench,build/gpu/bin,build/gpu/ptx,tests/accept,tests/gpu/cuda,bench,setup}
strip -o $kit/build/release/splitplane build/kit/splitplane
for program in $tests bench/gpu_bench; do strip -o $kit/build/release/$program build/gpu/$program; done
for program in device_check host_bypass; do strip -o $kit/build/gpu/bin/$program build/gpu/bin/$program; done
cp build/gpu/ptx/*.ptx $kit/build/gpu/ptx/

# The machine's own glibc and loader do, and its driver's libcuda is made for them; all others come along.
find $kit/build -type f -perm -u+x -exec ldd {} + | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  grep -Ev '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util|nsl|anl)\.so[^/]*)$' |
  while read -r library; do cp -L "$library" $kit/lib/; done

cp tests/accept/{run,report,_tools,gpu}.py tests/accept/_gpu_*.py $kit/tests/accept/
cp tests/gpu/cuda/ptx_rules.py $kit/tests/gpu/cuda/
cp tests/gpu/kit/* $kit/
cp bench/gpu_rows.py bench/gpu_page.py $kit/bench/
cp setup/nvcc.py $kit/setup/
put_sources $kit
git rev-parse HEAD >$kit/commit 2>/dev/null || echo unknown >$kit/commit

# objdump fails over what is no program.
newest_glibc=$({ find $kit/build $kit/lib -type f -exec objdump -T {} + 2>/dev/null || true; } |
  grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
{
  echo "made of commit $(cat $kit/commit); needs x86-64-v3, glibc $newest_glibc or later, Python 3.9 or later"
  (cd $kit && find . -type f ! -name manifest -print0 | sort -z | xargs -0 sha256sum)
} >$kit/manifest
kib=$(du -sk --apparent-size $kit | cut -f 1)
say "$kit: $((kib / 1024)) MiB, $(find $kit -type f | wc -l) files, glibc $newest_glibc or later"
[ "$kib" -le $((limit_mib * 1024)) ] || {
  say "more than $limit_mib MiB" >&2
  exit 1
}
