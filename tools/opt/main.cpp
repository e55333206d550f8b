// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Calls the main function of aopt.
#include "Main.h"

int main(int argc, char **argv) { return adze_opt_main(argc, argv); }
