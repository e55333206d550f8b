#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# scripts/build.sh TARGET...: builds targets in build/ (or $BUILD), which it
# configures if necessary, and prints the progress and the remaining time: on a
# terminal in one line that is updated, else every 30 seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
[ -f "$build/build.ninja" ] || cmake --preset "${PRESET:-dev}" >/dev/null
every=30 begin= end='\n'
if [ -t 1 ]; then
  every=1 begin='\r\033[K' end=
fi

# Nearly all time is spent on C++ files, so only they are counted. The steps before the
# first of them (tables, precompiled headers) do not predict their rate.
slow='Building CXX object'
slow_total=$(ninja -C "$build" -n "$@" | grep -c "$slow" || true)

# Reads ninja's lines: `@DONE TOTAL SECONDS WHAT` is a step, all others are printed.
progress() {
  local line done total seconds what left due=$every shown= slow_done=0 since=0
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
    if [[ $what == "$slow"* ]]; then
      slow_done=$((slow_done + 1))
      [ "$slow_done" -gt 1 ] || since=$seconds
    fi
    [ "$seconds" -ge "$due" ] || continue
    due=$((seconds + every)) left=
    if [ "$slow_done" -gt $((slow_total / 20 + 1)) ]; then
      left=$(((seconds - since) * (slow_total - slow_done) / (slow_done - 1)))
      [ "$left" -lt 100 ] && left=", about $left s left" || left=", about $(((left + 30) / 60)) min left"
    fi
    printf "%bbuild: %d of %d steps after %d s%s%b" "$begin" "$done" "$total" "$seconds" "$left" "$end"
    shown=1
  done
  [ -z "$shown" ] || [ -z "$begin" ] || printf '%b' "$begin"
}
NINJA_STATUS='@%f %t %e ' ninja -C "$build" -j"${JOBS:-$(nproc)}" "$@" 2>&1 | progress
