#!/usr/bin/env bash
# Installs what Splitplane needs: distribution packages, a Python environment in .venv, hugepages if it can.
# Does only what is missing, so a second run changes nothing; setup/undo.sh reverses it.
# Verified on Debian 12; Ubuntu 24.04 has the same package names but is not verified. Needs root or sudo for what is missing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
begin=$SECONDS

exec 9<"$root_dir/setup"
flock 9 # one setup at a time in this tree

check_distribution() {
  local name=unknown
  [ ! -r /etc/os-release ] || name=$(. /etc/os-release && printf '%s-%s' "$ID" "${VERSION_ID:-}")
  case $name in
    debian-12) ;;
    ubuntu-24.04) say "Ubuntu 24.04: same package names, not verified" ;;
    *) warn "this is $name; only Debian 12 is verified" ;;
  esac
  [ "$(uname -m)" = x86_64 ] || die "needs an x86-64 machine (the Python packages are pinned for it)"
  command -v apt-get >/dev/null || die "needs apt-get (Debian 12 or Ubuntu 24.04)"
}

wanted() { sed -e 's/#.*//' -e 's/>=//' "$root_dir/setup/packages.txt" | awk 'NF'; }

# Prints the packages that are absent or too old.
missing_packages() {
  local name lowest
  local -A installed=()
  while read -r name lowest; do installed[$name]=$lowest; done < <(
    dpkg-query -W -f '${Package} ${db:Status-Status} ${Version}\n' 2>/dev/null | awk '$2 == "installed" {print $1, $3}'
  )
  while read -r name lowest; do
    if [ -z "${installed[$name]:-}" ]; then
      echo "$name"
    elif [ -n "$lowest" ] && dpkg --compare-versions "${installed[$name]}" lt "$lowest"; then
      echo "$name"
    fi
  done < <(wanted)
}

installed_names() { dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort; }

install_packages() {
  local missing before
  missing=$(missing_packages)
  if [ -z "$missing" ]; then
    return
  fi
  as_root true || die "these packages are missing, and installing them needs root: $(echo $missing)"
  before=$(installed_names)
  timed_step "package lists (apt-get update)" "$log_dir/apt-update.log" \
    as_root apt-get -q -o DPkg::Lock::Timeout=120 update || warn "going on with the lists that are here"
  say "packages to install: $(echo $missing)"
  # shellcheck disable=SC2086
  timed_step "packages (some minutes; ${log_dir#"$root_dir"/}/apt-install.log)" "$log_dir/apt-install.log" \
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 \
    -o DPkg::Lock::Timeout=120 install $missing ||
    die "packages could not be installed; on Ubuntu the component \"universe\" must be enabled"
  comm -13 <(echo "$before") <(installed_names) | sed 's/^/package /' | {
    mapfile -t lines
    [ "${#lines[@]}" = 0 ] || state_add "${lines[@]}"
  }
  missing=$(missing_packages)
  [ -z "$missing" ] || die "still missing or too old in this distribution: $(echo $missing)"
}

# A Python that can make an environment: the distribution's own before whatever is first on PATH.
find_python() {
  local candidate
  for candidate in ${SPLITPLANE_PYTHON:-} /usr/bin/python3 python3.12 python3.11 python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' \
      2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  die "needs Python 3.11 or 3.12 with venv; name one in SPLITPLANE_PYTHON"
}

make_venv() {
  local venv=$root_dir/.venv stamp python
  stamp="$root_dir $(sha256sum <"$root_dir/setup/requirements.txt")"
  if [ "$(cat "$venv/splitplane-stamp" 2>/dev/null)" = "$stamp" ] && "$venv/bin/python" -c '' 2>/dev/null; then
    return
  fi
  python=$(find_python)
  rm -rf "$venv"
  timed_step "python environment .venv ($("$python" --version))" "$log_dir/venv.log" "$python" -m venv "$venv" ||
    die "no python environment"
  timed_step "python packages, pinned and hashed" "$log_dir/pip.log" \
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary=:all: \
    -r "$root_dir/setup/requirements.txt" || die "python packages could not be installed"
  echo "$stamp" >"$venv/splitplane-stamp"
}

# Prometheus is for one test only. It is unpacked from its package into .venv and not installed, so that no service of it
# comes to this machine and `make undo-setup` takes it away with the rest of .venv.
get_prometheus() {
  local bin=$root_dir/.venv/bin
  if command -v prometheus >/dev/null && command -v promtool >/dev/null || [ -x "$bin/promtool" ]; then
    return
  fi
  timed_step "prometheus for the tests, unpacked into .venv" "$log_dir/prometheus.log" unpack_prometheus ||
    warn "without prometheus the test of the metrics endpoint is skipped"
}

unpack_prometheus() {
  local folder status=0
  folder=$(mktemp -d)
  (
    cd "$folder" &&
      { apt-get -q download prometheus || { as_root apt-get -q update && apt-get -q download prometheus; }; } &&
      dpkg-deb -x prometheus_*.deb . &&
      install -m 755 usr/bin/prometheus usr/bin/promtool "$root_dir/.venv/bin/"
  ) || status=1
  rm -rf "$folder"
  return $status
}

check_distribution
install_packages
make_venv
get_prometheus
"$root_dir/setup/hugepages.sh" reserve
say "ready: $(wanted | wc -l) packages, .venv, $("$root_dir/setup/hugepages.sh" count) hugepages ($((SECONDS - begin)) s)"
