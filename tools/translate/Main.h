// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The main function of atranslate, for programs that contain it.
#ifndef ADZE_TOOLS_TRANSLATE_MAIN_H
#define ADZE_TOOLS_TRANSLATE_MAIN_H

/// Runs atranslate; returns the exit status of the process.
extern "C" int adze_translate_main(int argc, char **argv);

#endif // ADZE_TOOLS_TRANSLATE_MAIN_H
