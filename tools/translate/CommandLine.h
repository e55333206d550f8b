// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The flags of atranslate.
#ifndef ADZE_TOOLS_TRANSLATE_COMMANDLINE_H
#define ADZE_TOOLS_TRANSLATE_COMMANDLINE_H

#include "Pipeline/Compile.h"
#include <optional>

namespace adze {

/// Fills in `options`. Returns a status if the process is to end here: after
/// --help, or with a message on stderr.
std::optional<CompileStatus> parseCommandLine(int argc, char **argv,
                                              CompileOptions &options);

} // namespace adze

#endif // ADZE_TOOLS_TRANSLATE_COMMANDLINE_H
