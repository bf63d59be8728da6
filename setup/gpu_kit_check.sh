#!/usr/bin/env bash
# gpu_kit_check.sh [COMMAND...]: runs build/gpu-kit/run COMMAND (default: smoke) where nothing else of this tree and of this
# distribution's packages is: a root that holds the kit, python3 with its own library, sh, glibc, /proc, /sys and /dev, with an
# empty environment and without network. Its exit code. Needs root.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
kit=$root_dir/build/gpu-kit
say() { printf 'gpu-kit: %s\n' "$*"; }

put_file() { # at the same place
  mkdir -p "$2$(dirname "$1")"
  [ -e "$2$1" ] || cp -L "$1" "$2$1"
}
put() { # with what it needs
  local file
  for file in "$1" $(ldd "$1" | grep -o '/[^ ]*'); do put_file "$file" "$2"; done
}

if [ "${1:-}" = --inside ]; then
  root=$2
  shift 2
  mount -t tmpfs tmpfs "$root"
  for folder in kit proc sys dev tmp bin; do mkdir "$root/$folder"; done
  python=$(readlink -f "$(command -v /usr/bin/python3 || command -v python3)")
  put "$python" "$root"
  put "$(readlink -f /bin/sh)" "$root"
  cp "$root$(readlink -f /bin/sh)" "$root/bin/sh"
  mkdir -p "$root/usr/bin"
  ln -s "$python" "$root/usr/bin/python3"
  put_file /lib64/ld-linux-x86-64.so.2 "$root"
  # glibc's other libraries, as every machine has them.
  libc=$(ldd "$python" | grep -o '/[^ ]*libc\.so\.6')
  for name in libdl.so.2 librt.so.1 libpthread.so.0 libm.so.6 libresolv.so.2; do
    put_file "$(dirname "$libc")/$name" "$root"
  done
  library=$("$python" -I -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
  mkdir -p "$root$library"
  cp -r "$library/." "$root$library/" # with lib-dynload; what packages added lies elsewhere
  for module in "$library"/lib-dynload/*.so; do
    for file in $(ldd "$module" | grep -o '/[^ ]*'); do put_file "$file" "$root"; done
  done
  mount --bind "$kit" "$root/kit"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  cd /
  exec env -i "$(command -v chroot)" "$root" /kit/run "$@"
fi

[ "$(id -u)" = 0 ] || { say "needs root"; exit 2; }
[ -x "$kit/run" ] || { say "there is no $kit: make gpu-kit"; exit 2; }
[ $# -gt 0 ] || set -- smoke
root=$(mktemp -d)
status=0
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --mount --pid --net --fork --kill-child \
  "$BASH" "$root_dir/setup/gpu_kit_check.sh" --inside "$root" "$@" || status=$?
rmdir "$root"
exit $status
