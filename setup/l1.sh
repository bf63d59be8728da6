#!/usr/bin/env bash
# l1.sh: installs the foreign layer 1 of setup/requirements-l1.in into build/l1, once, and prints that folder.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root_dir"

requirements=setup/requirements-l1.txt
folder=$root_dir/build/l1
stamp=$(sha256sum <$requirements)
if [ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ]; then
  rm -rf "$folder"
  timed_step "a foreign layer 1, pinned and hashed (60 MB)" "$log_dir/l1-pip.log" .venv/bin/python -m pip install --quiet \
    --disable-pip-version-check --require-hashes --only-binary=:all: --no-deps --target "$folder" -r $requirements >&2
  echo "$stamp" >"$folder/stamp"
fi
echo "$folder"
