# Shared by the scripts in setup/: messages, becoming root, and the record of what setup changed (for undo.sh).
# Sourced, not run. Needs nothing but bash and the essential packages.

root_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
state_file=${SPLITPLANE_STATE:-/var/lib/splitplane/setup-state}
log_dir=$root_dir/build/log

say() { printf 'setup: %s\n' "$*"; }
warn() { printf 'setup: warning: %s\n' "$*" >&2; }
die() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 1
}

# as_root COMMAND...: as it is for root, through sudo otherwise.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    warn "needs root and there is no sudo: $*"
    return 1
  fi
}

# The state file has lines "KEY VALUE..."; each is written once, at the first change.
state_has() { [ -r "$state_file" ] && grep -q "^$1\( \|\$\)" "$state_file"; }
state_get() { [ -r "$state_file" ] && sed -n "s/^$1 //p" "$state_file"; }
state_add() {
  as_root mkdir -p "$(dirname "$state_file")"
  printf '%s\n' "$@" | as_root tee -a "$state_file" >/dev/null
}
state_drop() { [ ! -e "$state_file" ] || as_root sed -i "/^$1\( \|\$\)/d" "$state_file"; }

# timed_step TEXT LOG COMMAND...: one line when it begins, its time when it ends, the log's tail when it fails.
timed_step() {
  local text=$1 log=$2 begin=$SECONDS
  shift 2
  mkdir -p "$(dirname "$log")"
  say "$text ..."
  if "$@" >"$log" 2>&1; then
    say "$text: done in $((SECONDS - begin)) s"
  else
    tail -n 25 "$log" >&2
    warn "failed: $text (all of it: ${log#"$root_dir"/})"
    return 1
  fi
}
