// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Handles crashes and internal errors of atranslate.
#ifndef ADZE_TOOLS_TRANSLATE_CRASHHANDLING_H
#define ADZE_TOOLS_TRANSLATE_CRASHHANDLING_H

#include "Pipeline/Compile.h"

namespace adze {

/// Installs handlers: failed checks, fatal errors and signals end the process
/// with status 70, after temporary files are removed and a reproducer is
/// written and named on stderr.
void installCrashHandling(int argc, char **argv);

/// Writes the reproducer and names it on stderr: the IR before the failing
/// pass, if a pass may have failed and fails again, else a script of the
/// command.
void reportDefect(bool isOfPass);

} // namespace adze

#endif // ADZE_TOOLS_TRANSLATE_CRASHHANDLING_H
