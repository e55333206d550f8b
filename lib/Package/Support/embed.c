/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The support objects as data of the compiler. */
#define EMBED(symbol, file)                                                    \
  __asm__(".section .rodata\n.balign 16\n.globl " #symbol "\n"                 \
          ".hidden " #symbol "\n" #symbol ":\n.incbin \"" file "\"\n"          \
          ".globl " #symbol "_end\n.hidden " #symbol "_end\n" #symbol "_end:\n" \
          ".byte 0\n.previous\n")

EMBED(adze_support_x86_64, SUPPORT_X86_64);
EMBED(adze_support_aarch64, SUPPORT_AARCH64);
