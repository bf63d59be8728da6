#!/usr/bin/env bash
# tsan_seeded_race.sh PROGRAM race|clean [NAME]: with the committed suppressions the program's race must be reported, in a
# function of that name, and the same program without the race must not be.
set -euo pipefail
program=$1 kind=$2 name=${3:-SeededRace::process}
suppressions=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/tsan-suppressions.txt
status=0
output=$(TSAN_OPTIONS="suppressions='$suppressions'" "$program" "$kind" 2>&1) || status=$?
reports=$(grep -c '^WARNING: ThreadSanitizer' <<<"$output" || true)
case $kind in
  race)
    if [[ $status -ne 0 ]] && grep -q "SUMMARY: ThreadSanitizer: data race .*$name" <<<"$output"; then
      echo "the seeded race is caught with the suppressions ($reports report(s))"
      exit 0
    fi
    ;;
  clean)
    if [[ $status -eq 0 && $reports -eq 0 ]]; then
      echo "without the race there is no report"
      exit 0
    fi
    ;;
esac
printf '%s\n' "$output" | tail -n 80
echo "tsan_seeded_race $kind: exit status $status, $reports report(s): not as it should be"
exit 1
