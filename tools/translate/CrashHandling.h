// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What happens when atranslate itself is at fault.
#ifndef ADZE_TOOLS_TRANSLATE_CRASHHANDLING_H
#define ADZE_TOOLS_TRANSLATE_CRASHHANDLING_H

#include "Pipeline/Compile.h"

namespace adze {

/// From now on failed checks, fatal errors and signals end the process with
/// status 70, after temporary files are gone and a file that says how to
/// reproduce the defect is written and named on stderr.
void installCrashHandling(int argc, char **argv);

/// Writes that file and names it on stderr: the IR before the pass that fails,
/// if there may be one and it fails again, else a script of the command.
void reportDefect(bool isOfPass);

} // namespace adze

#endif // ADZE_TOOLS_TRANSLATE_CRASHHANDLING_H
