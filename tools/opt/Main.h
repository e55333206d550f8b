// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// aopt as a function.
#ifndef ADZE_TOOLS_OPT_MAIN_H
#define ADZE_TOOLS_OPT_MAIN_H

/// Runs aopt; the process ends with what it returns.
extern "C" int adze_opt_main(int argc, char **argv);

#endif // ADZE_TOOLS_OPT_MAIN_H
