#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# scripts/build.sh TARGET...: builds targets in build/, which it configures where
# it is not, and says how far it is and how long it will take: in one line that
# changes on a terminal, else every 30 seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -f build/build.ninja ] || cmake --preset "${PRESET:-dev}" >/dev/null
every=30 begin= end='\n'
if [ -t 1 ]; then
  every=1 begin='\r\033[K' end=
fi

# Reads ninja's lines: `@DONE TOTAL SECONDS WHAT` is a step, all else is printed.
progress() {
  local line done total seconds what left due=$every shown=
  while IFS= read -r line; do
    case $line in
    @*) ;;
    "ninja: Entering directory"* | "ninja: no work to do.") continue ;;
    *)
      printf '%b%s\n' "${shown:+$begin}" "$line"
      shown=
      continue
      ;;
    esac
    read -r done total seconds what <<<"${line#@}"
    seconds=${seconds%.*}
    [ "$seconds" -ge "$due" ] || continue
    due=$((seconds + every)) left=$((seconds * (total - done) / (done > 0 ? done : 1)))
    [ "$left" -lt 100 ] && left="$left s" || left="$(((left + 30) / 60)) min"
    printf "%bbuild: %d of %d steps after %d s, about %s left%b" "$begin" "$done" "$total" "$seconds" "$left" "$end"
    shown=1
  done
  [ -z "$shown" ] || [ -z "$begin" ] || printf '%b' "$begin"
}
NINJA_STATUS='@%f %t %e ' ninja -C build -j"${JOBS:-$(nproc)}" "$@" 2>&1 | progress
