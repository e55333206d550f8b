#!/usr/bin/env bash
# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Checks rules of CONTRIBUTING.md: sizes of files, one pass per file with a test of
# the same name, file headers, no open ends.
set -uo pipefail
cd "$(dirname "$0")/.."
bad=0
complain() {
  echo "structure: $*"
  bad=$((bad + 1))
}
files() { git ls-files -- "$@"; }

# limit LINES PATHSPEC...
limit() {
  local most=$1 file lines
  shift
  while read -r file; do
    [ -f "$file" ] || continue
    lines=$(wc -l <"$file")
    [ "$lines" -le "$most" ] || complain "$file: expected at most $most lines, but got $lines"
  done < <(files "$@")
}
limit 600 'lib/*.cpp' 'ep/*.cpp' 'tools/*.cpp' 'runtime/*.c' 'tools/*.c' 'python-free-tests/*.cpp' 'python-free-tests/*.c'
limit 400 '*.td'
limit 250 'include/*.h' 'lib/*.h'
limit 300 'test/*.mlir' 'test/*.test'

# Every source begins with the licence line, without the name of the file.
while read -r file; do
  [ -f "$file" ] || continue
  head -1 "$file" | grep -q 'Part of Adze, under the Apache License' || complain "$file: expected the licence line first"
done < <(files '*.cpp' '*.h' '*.c' '*.td' '*.js' '*.css')

# One pass per file, of the same name, with a lit test of the same name. (The list
# is a string: grep -q ends at its first match, and the writer of a pipe would fail.)
tests=$(files 'test/*')
while read -r file; do
  [ -f "$file" ] || continue
  count=$(grep -c '^#define GEN_PASS_DEF_' "$file")
  [ "$count" = 0 ] && continue
  [ "$count" = 1 ] || complain "$file: expected one pass, but got $count"
  # The pass file and the test folder of a conversion have the name of its folder.
  kebab=$(basename "$file" .cpp | sed -E 's/([a-z0-9])([A-Z])/\1-\2/g' | tr A-Z a-z)
  folder=test/$(dirname "${file#lib/}")
  grep -qE "/(convert-|graph-|tile-|adze-)?$kebab(-[a-z0-9-]+)?\.(mlir|test)$" <<<"$tests" ||
    { [ "$(basename "$file" .cpp)" = "$(basename "$folder")" ] && [ -n "$(files "$folder")" ]; } ||
    complain "$file: expected a lit test named $kebab.mlir"
done < <(files 'lib/*.cpp')

# Merges are complete.
conflicts=$(git grep -nE '^(<<<<<<<|>>>>>>>) ' | head -5)
[ -z "$conflicts" ] || complain "expected no conflict markers:
$conflicts"

# One line per change.
long=$(awk 'length > 120 { print FILENAME ":" FNR }' CHANGELOG.md)
[ -z "$long" ] || complain "expected at most 120 characters a line:
$long"

# Pages, comments and messages do not use the words in the right-hand column of
# docs/glossary.md.
words=$(git grep -nE 'of unknown sizes?|only (the|a) run (knows|can tell)|past the caches|for memory ahead|hangs over|by patches|side by side|data tells|numbers of a register|\bat hand\b|\bmade anew\b|\bfor lack of room\b' \
  -- '*.md' '*.cpp' '*.h' '*.c' '*.td' '*.py' ':!docs/glossary.md' | head -5)
[ -z "$words" ] || complain "words that docs/glossary.md replaces:
$words"

# Source files that pages name exist.
sources=$(files '*.cpp' '*.h' '*.hpp' '*.c' '*.def' '*.td' '*.py' '*.js')
while IFS=: read -r page name; do
  grep -qE "(^|/)${name//./\\.}$" <<<"$sources" || complain "$page: no source file '$name'"
done < <(git grep -oE '`[A-Za-z0-9_./-]+\.(cpp|h|hpp|c|def|td|js)`' -- 'docs/*.md' README.md CONTRIBUTING.md | tr -d '`' | sort -u)

# No open ends, no absolute path of a machine, no tabs.
left=$(git grep -nIE '\b(TODO|FIXME|XXX)\b' -- lib include ep runtime tools test python-free-tests examples | head -20)
[ -z "$left" ] || complain "left open:
$left"
tabs=$(git grep -nIP '\t' -- '*.cpp' '*.h' '*.c' '*.td' '*.mlir' | head -5)
[ -z "$tabs" ] || complain "tabs:
$tabs"
paths=$(git grep -nIE '(^|[^A-Za-z0-9_.])/(root|work)/' -- . ':!scripts/check-structure.sh' | head -5)
[ -z "$paths" ] || complain "paths of one machine:
$paths"

[ "$bad" = 0 ] && echo "structure: all rules kept"
[ "$bad" = 0 ]
