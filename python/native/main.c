/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * A tool of the wheel: all of it is in libadze_compiler.
 */
int ADZE_MAIN(int argc, char **argv);

int main(int argc, char **argv) { return ADZE_MAIN(argc, argv); }
