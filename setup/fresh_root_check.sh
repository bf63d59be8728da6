#!/usr/bin/env bash
# fresh_root_check.sh [TARGET...]: proves the front door in a new Debian 12 root that holds only make, git and ca-certificates.
# Clones this tree, with its new files, as root into ~/splitplane there, and runs each make target, timed; default: setup,
# twice. PLACE names another folder of that root, with a blank in it if you like: PLACE='~/split plane'.
# Uses the package sources, certificates and client settings of the machine it runs on. Not part of make test.
# Needs root and debootstrap. KEEP=1 keeps the root, ROOT=DIRECTORY says where (new, or one that KEEP=1 kept).
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=/root
place=${PLACE:-\~/splitplane}
inside_tree=${place/#\~/$home} # of the new root
say() { printf 'fresh root: %s\n' "$*"; }

# Runs in mount and process namespaces of its own, so that no mount and no process outlives it.
run_targets() {
  local root=$1 target begin result status=0
  shift
  mount --bind "$root" "$root" # `ip netns` wants the root to be a mount point
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/run"
  local client=()
  while IFS= read -r -d '' variable; do
    [[ $variable =~ ^(PIP_|GO[A-Z]+=|SSL_CERT_|REQUESTS_CA|CURL_CA|[a-zA-Z]+_(proxy|PROXY)=) ]] && client+=("$variable")
  done < <(env -0)
  local enter=(chroot "$root" env -i "${client[@]}" PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root)
  for target in "$@"; do
    say "make $target"
    begin=$SECONDS
    result=ok
    # A target may carry a variable: 'accept PART=host'.
    # shellcheck disable=SC2086
    "${enter[@]}" make -C "$inside_tree" --no-print-directory $target </dev/null || result=FAILED
    [ "$result" = ok ] || status=1
    say "make $target: $result in $((SECONDS - begin)) s"
  done
  # Hugepages belong to the kernel, not to the root: give them back before their record is deleted.
  "${enter[@]}" "$inside_tree/setup/hugepages.sh" restore || true
  return $status
}

copy_client_settings() {
  local root=$1 path
  rm -rf "$root/etc/apt/sources.list" # debootstrap's own, replaced by this machine's
  for path in /etc/apt /etc/pip.conf /etc/resolv.conf /etc/hosts /usr/local/share/ca-certificates \
    "$HOME/.config/pip" "$HOME/.config/go"; do
    [ -e "$path" ] || continue
    local to=$root${path/#"$HOME"//root}
    mkdir -p "$(dirname "$to")"
    cp -rLT "$path" "$to"
  done
  chroot "$root" update-ca-certificates >/dev/null 2>&1
}

if [ "${1:-}" = --inside ]; then
  shift
  run_targets "$@"
  exit
fi

[ "$(id -u)" = 0 ] || { say "needs root"; exit 2; }
command -v debootstrap >/dev/null || { say "needs the package debootstrap"; exit 2; }
root=${ROOT:-$(mktemp -d)/root}

clean_up() {
  local status=$?
  if [ "${KEEP:-0}" = 1 ]; then
    say "kept: $root"
  elif grep -q " $root" /proc/mounts; then
    say "something is still mounted below $root: not removed"
  else
    rm -rf --one-file-system "$root"
    [ -n "${ROOT:-}" ] || rmdir "$(dirname "$root")"
  fi
  exit $status
}
trap clean_up EXIT

begin=$SECONDS
if [ ! -e "$root/etc/debian_version" ]; then
  say "debootstrap of Debian 12 into $root ..."
  log=$(mktemp)
  mkdir -p "$root"
  debootstrap --variant=minbase --include=make,git,ca-certificates bookworm "$root" >"$log" 2>&1 ||
    { tail -n 20 "$log"; exit 1; }
  rm -f "$log"
  say "debootstrap: done in $((SECONDS - begin)) s"
fi
copy_client_settings "$root"
mkdir -p "$root$inside_tree"
git -C "$tree" ls-files -z --cached --others --exclude-standard |
  tar -C "$tree" --null --files-from=- --ignore-failed-read -c | tar -C "$root$inside_tree" --no-same-owner -x
chroot "$root" git -C "$inside_tree" init --quiet 2>/dev/null
chroot "$root" git -C "$inside_tree" add --all 2>/dev/null

[ $# -gt 0 ] || set -- setup setup
unshare --mount --pid --fork --kill-child "$BASH" "$tree/setup/fresh_root_check.sh" --inside "$root" "$@"
