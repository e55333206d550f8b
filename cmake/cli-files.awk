# Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#
# Makes a man page or a shell's completion of the text that `TOOL --help` prints.
#   awk -v tool=TOOL -v version=V -v mode=man|bash|zsh|fish -f cli-files.awk HELP
#
# An option line begins with spaces and a dash: one or several flags, each with
# or without a value, then a description after ` - ` (LLVM's tools) or two
# spaces. Lines of more spaces continue the description; lines `=value - text`
# are values of the option before.

function add_option(word, text) {
  flag[++count] = word
  sub(/=.*/, "", flag[count])
  sub(/,$/, "", flag[count])
  takes[count] = (word ~ /=/) ? without_brackets(substr(word, index(word, "=") + 1)) : ""
  joined[count] = (word ~ /=/) # --flag=VALUE, which LLVM's tools print
  about[count] = text != "" ? text : flag[count] == "--help" ? "print this text" : flag[count] == "--version" ? "print the version" : ""
  choices[count] = values_of(takes[count])
  section[count] = heading
  first_of_line[count] = 0
}

# The values of `a|b|c`, with blanks between; nothing of any other text.
function values_of(text) {
  if (text !~ /^[a-z0-9]+(\|[a-z0-9]+)+$/)
    return ""
  gsub(/\|/, " ", text)
  return text
}

function without_brackets(text) {
  return (text ~ /^<.*>$/) ? substr(text, 2, length(text) - 2) : text
}

# The flags of the part of a line before its description.
function add_flags(spec, text,    words, n, i) {
  n = split(spec, words, /,? +/)
  for (i = 1; i <= n; ++i) {
    if (words[i] ~ /^-/) {
      add_option(words[i], text)
    } else if (words[i] != "") {
      takes[count] = without_brackets(words[i])
      choices[count] = values_of(takes[count])
    }
  }
}

function trimmed(text) {
  gsub(/^ +| +$/, "", text)
  return text
}

/^OPTIONS:/ { is_llvm = 1 }
/^(OVERVIEW: )?[A-Z][^:]*\.$/ && !overview { overview = $0; sub(/^OVERVIEW: /, "", overview); next }
/^[a-z]+$/ { heading = $0; next }
/^ +=[^ ]+ +- / && count { value = $1; sub(/^=/, "", value); choices[count] = trimmed(choices[count] " " value); next }
{ match($0, /^ */); indent = RLENGTH }
/^ +-/ && indent <= 6 {
  line = trimmed($0)
  text = ""
  if (is_llvm ? match(line, / +- +/) : match(line, /  +/)) {
    text = substr(line, RSTART + RLENGTH)
    line = substr(line, 1, RSTART - 1)
  }
  begin = count
  add_flags(line, text)
  first_of_line[begin + 1] = 1
  next
}
indent >= 14 && /[^ ]/ && count && !is_llvm { about[count] = trimmed(about[count] " " trimmed($0)); next }
/^(example|Example): / { example = $0; sub(/^[eE]xample: /, "", example) }
/^(Exit status|Status)[: ]/ { in_status = 1 }
in_status { sub(/^(Exit status|Status): /, "") }
in_status && NF { status = trimmed(status " " $0) }
in_status && !NF { in_status = 0 }

function escaped(text, chars,    i, c, out) {
  for (i = 1; i <= length(text); ++i) {
    c = substr(text, i, 1)
    out = out (index(chars, c) ? "\\" c : c)
  }
  return out
}

function roff(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  return (text ~ /^[.']/) ? "\\&" text : text
}

function print_man(    i, last) {
  printf ".\\\" Made of the text of %s --help.\n", tool
  printf ".TH %s 1 \"\" \"Adze %s\"\n.SH NAME\n%s \\- %s\n", toupper(tool), version, tool, roff(overview)
  printf ".SH SYNOPSIS\n.B %s\n[\\fIflags\\fR] \\fIFILE\\fR\n.SH OPTIONS\n", tool
  for (i = 1; i <= count; ++i) {
    if (section[i] != last)
      printf ".SS %s\n", last = section[i]
    printf ".TP\n\\fB%s\\fR", roff(flag[i])
    if (takes[i] != "")
      printf "%s\\fI%s\\fR", joined[i] ? "=" : " ", roff(takes[i])
    printf "\n%s\n", roff(about[i])
    if (choices[i] != "" && takes[i] !~ /\|/)
      printf ".br\nValues: %s.\n", roff(choices[i])
  }
  if (example != "")
    printf ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(example)
  if (status != "")
    printf ".SH EXIT STATUS\n%s\n", roff(status)
  printf ".SH SEE ALSO\natranslate(1), arun(1), aopt(1), adze\\-reduce(1)\n"
}

function print_bash(    i, words, name) {
  name = "_" tool
  gsub(/-/, "_", name)
  printf "# Completes the flags of %s; made of the text of its --help.\n%s() {\n", tool, name
  printf "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
  printf "  # Words are split at `=`.\n"
  printf "  [ \"$cur\" = = ] && cur=\n"
  printf "  [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
  printf "  COMPREPLY=()\n  case $prev in\n"
  for (i = 1; i <= count; ++i) {
    words = words " " flag[i] (joined[i] ? "=" : "")
    if (choices[i] != "")
      printf "  %s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", flag[i], choices[i]
  }
  printf "  esac\n  case $cur in\n  -*)\n    COMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n", trimmed(words)
  printf "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n    ;;\n  esac\n}\n"
  printf "complete -o default -F %s %s\n", name, tool
}

function print_zsh(    i, text) {
  printf "#compdef %s\n# Made of the text of %s --help.\n_arguments -S \\\n", tool, tool
  for (i = 1; i <= count; ++i) {
    text = about[i]
    gsub(/'/, "", text)
    text = escaped(text, "[]:\\")
    printf "  '*%s%s[%s]", flag[i], (takes[i] == "" ? "" : flag[i] ~ /^--/ ? "=" : "+"), text
    if (choices[i] != "")
      printf ":value:(%s)", choices[i]
    else if (takes[i] != "")
      printf ":%s:%s", escaped(takes[i], "[]:\\'()"), (takes[i] ~ /FILE|DIR|LIB|json/ ? "_files" : " ")
    printf "' \\\n"
  }
  printf "  '*:file:_files'\n"
}

function print_fish(    i, text) {
  printf "# Made of the text of %s --help.\n", tool
  for (i = 1; i <= count; ++i) {
    text = about[i]
    gsub(/\\/, "\\\\", text)
    gsub(/'/, "\\'", text)
    printf "complete -c %s %s", tool, (flag[i] ~ /^--/ ? "-l " substr(flag[i], 3) : "-s " substr(flag[i], 2, 1))
    if (choices[i] != "")
      printf " -x -a '%s'", choices[i]
    else if (takes[i] != "")
      printf " -r"
    printf " -d '%s'\n", text
  }
}

END {
  if (mode == "man") print_man()
  else if (mode == "bash") print_bash()
  else if (mode == "zsh") print_zsh()
  else if (mode == "fish") print_fish()
}
