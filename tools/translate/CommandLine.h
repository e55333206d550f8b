// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The flags of atranslate.
#ifndef ADZE_TOOLS_TRANSLATE_COMMANDLINE_H
#define ADZE_TOOLS_TRANSLATE_COMMANDLINE_H

#include "Pipeline/Compile.h"
#include <optional>

namespace adze {

/// Sets `options`. Returns a status if the process must end: after --help, or
/// after an error message.
std::optional<CompileStatus> parseCommandLine(int argc, char **argv,
                                              CompileOptions &options);

} // namespace adze

#endif // ADZE_TOOLS_TRANSLATE_COMMANDLINE_H
