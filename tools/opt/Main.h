// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The main function of aopt, for programs that contain it.
#ifndef ADZE_TOOLS_OPT_MAIN_H
#define ADZE_TOOLS_OPT_MAIN_H

/// Runs aopt; returns the exit status of the process.
extern "C" int adze_opt_main(int argc, char **argv);

#endif // ADZE_TOOLS_OPT_MAIN_H
