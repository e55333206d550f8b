/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The main function of a tool of the wheel, whose code is in libadze_compiler.
 * */
int ADZE_MAIN(int argc, char **argv);

int main(int argc, char **argv) { return ADZE_MAIN(argc, argv); }
