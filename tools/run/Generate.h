// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Generation of tokens by a decoder model.

#ifndef ADZE_TOOLS_RUN_GENERATE_H
#define ADZE_TOOLS_RUN_GENERATE_H

#include "Run.h"

namespace adze::run {

/// Continues the prompts of the arguments as one batch. `text` receives the
/// tokens and rates, as one JSON object or as lines of text.
Error generate(const Session &session, Arguments arguments, std::string &text);

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_GENERATE_H
