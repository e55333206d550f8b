// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Calls the main function of atranslate.
#include "Main.h"

int main(int argc, char **argv) { return adze_translate_main(argc, argv); }
