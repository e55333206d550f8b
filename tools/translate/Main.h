// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// atranslate as a function.
#ifndef ADZE_TOOLS_TRANSLATE_MAIN_H
#define ADZE_TOOLS_TRANSLATE_MAIN_H

/// Runs atranslate; the process ends with what it returns.
extern "C" int adze_translate_main(int argc, char **argv);

#endif // ADZE_TOOLS_TRANSLATE_MAIN_H
