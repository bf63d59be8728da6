#!/usr/bin/env bash
# hugepages.sh reserve|restore|count: 2 MiB pages for DPDK, and hugetlbfs at /dev/hugepages; restore puts back what was before.
# A machine that has no hugepages to give still runs Splitplane, so nothing here is an error.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

count_file=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
mount_point=/dev/hugepages
lost="DPDK then runs with --no-huge: more TLB misses, so figures are worse, and no second process can attach"

mounted_at() { awk -v at="$1" '$2 == at && $3 == "hugetlbfs"' /proc/mounts | grep -q .; }
any_mounted() { awk '$3 == "hugetlbfs"' /proc/mounts | grep -q .; }
write_count() { echo "$1" | as_root tee "$count_file" >/dev/null 2>&1; }

# At most a quarter of the memory that is free now, and never more than 1024 pages (2 GiB).
pages_wanted() { awk '/^MemAvailable:/ {n = int($2 / 4 / 2048); print (n < 1024 ? n : 1024)}' /proc/meminfo; }

reserve() {
  local now wanted got
  if ! now=$(cat "$count_file" 2>/dev/null); then
    warn "hugepages: this kernel has none of 2 MiB. $lost"
    return
  fi
  wanted=$(pages_wanted)
  if [ "$now" -ge "$wanted" ] || { state_has hugepages-before && [ "$now" -ge 256 ]; }; then
    got=$now
  else
    write_count "$wanted" || true
    got=$(cat "$count_file")
    if [ "$got" -gt "$now" ]; then
      state_has hugepages-before || state_add "hugepages-before $now"
    fi
  fi
  if [ "$got" = 0 ]; then
    warn "hugepages: could not reserve any. $lost"
    return
  fi
  if ! any_mounted; then
    if as_root mkdir -p "$mount_point" 2>/dev/null &&
      as_root mount -t hugetlbfs -o pagesize=2M nodev "$mount_point" 2>/dev/null; then
      say "hugepages: mounted hugetlbfs at $mount_point"
      state_has hugetlbfs-mounted || state_add "hugetlbfs-mounted $mount_point"
    else
      warn "hugepages: $got reserved, but hugetlbfs could not be mounted at $mount_point. $lost"
      return
    fi
  fi
  [ "$got" -ge "$wanted" ] || [ "$got" -ge 256 ] || warn "hugepages: only $got of $wanted; large bearer tables may not fit"
  [ "$got" = "$now" ] || say "hugepages: reserved $got of 2 MiB (were $now)"
}

restore() {
  local at before
  at=$(state_get hugetlbfs-mounted || true)
  if [ -n "$at" ]; then
    if ! mounted_at "$at"; then
      state_drop hugetlbfs-mounted
    elif as_root umount "$at"; then
      say "hugepages: unmounted $at"
      state_drop hugetlbfs-mounted
    else
      warn "hugepages: $at is in use and stays mounted"
    fi
  fi
  before=$(state_get hugepages-before || true)
  if [ -n "$before" ]; then
    if write_count "$before" && [ "$(cat "$count_file")" = "$before" ]; then
      say "hugepages: $before reserved, as before setup"
      state_drop hugepages-before
    else
      warn "hugepages: could not go back to $before pages (in use?)"
    fi
  fi
}

case ${1:-} in
  reserve) reserve ;;
  restore) restore ;;
  count) cat "$count_file" 2>/dev/null || echo 0 ;;
  *) die "usage: hugepages.sh reserve|restore|count" ;;
esac
