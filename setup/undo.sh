#!/usr/bin/env bash
# Undoes setup/install.sh from its record: hugepages, the mount, .venv, and with REMOVE_PACKAGES=1 the packages it installed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root_dir/setup/hugepages.sh" restore
if [ -d "$root_dir/.venv" ]; then
  rm -rf "$root_dir/.venv"
  say "python environment: .venv removed"
fi

# Of the packages that setup installed, those that are still here.
mapfile -t packages < <(comm -12 <(state_get package | sort -u) \
  <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u))
if [ "${#packages[@]}" = 0 ]; then
  state_drop package
elif [ "${REMOVE_PACKAGES:-0}" != 1 ]; then
  say "packages that setup installed and that stay (REMOVE_PACKAGES=1 make undo-setup removes them):"
  echo "${packages[*]}" | fold -s -w 110
  echo
else
  # What was installed since may need ours: then nothing is removed.
  others=$(comm -13 <(printf '%s\n' "${packages[@]}" | sort -u) \
    <(apt-get -s purge "${packages[@]}" | awk '/^(Purg|Remv) / {print $2}' | sort -u))
  [ -z "$others" ] || die "these packages need some of those that setup installed, so none was removed: $(echo $others)"
  timed_step "removing ${#packages[@]} packages" "$log_dir/apt-remove.log" \
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 purge "${packages[@]}" ||
    die "packages could not be removed"
  state_drop package
fi
if [ -e "$state_file" ] && [ ! -s "$state_file" ]; then
  as_root rm -f "$state_file"
  as_root rmdir --ignore-fail-on-non-empty "$(dirname "$state_file")"
fi
journals=$(find "$(dirname "$state_file")" -maxdepth 1 -name '*.journal' 2>/dev/null || true)
[ -z "$journals" ] || say "journals of gNBs stay, which name their bearers and numbers: $(echo $journals)"
say "undone"
