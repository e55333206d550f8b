/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The C API of the Adze compiler: ONNX models to modules that adze.h opens.
 * Plain C11; no exception crosses it, and signals are left to the program.
 *
 *   adze_compiler_options *options;
 *   adze_compiler_result *result;
 *   adze_compiler_options_create(&options);
 *   adze_compiler_options_set(options, "dim", "N=1..64");
 *   if (adze_compile("model.onnx", "model.so", options, &result))
 *     fputs(adze_compiler_result_message(result), stderr);
 *   adze_compiler_result_release(result);
 *   adze_compiler_options_release(options);
 *
 * Any number of compilations may run at once in a process, also with the same
 * options. A defect of the compiler that its checks do not find ends the
 * process: a program that must survive it compiles in a process of its own.
 */
#ifndef ADZE_COMPILER_H
#define ADZE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#ifndef ADZE_COMPILER_API
#define ADZE_COMPILER_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------ */

/* The numbers of atranslate's exit statuses, and one more. */
typedef enum {
  ADZE_COMPILE_OK = 0,
  ADZE_COMPILE_INPUT_ERROR = 1, /* the model, or a file, is at fault */
  ADZE_COMPILE_USAGE = 2,       /* an option or an argument is wrong */
  ADZE_COMPILE_UNSUPPORTED = 3, /* right, but there is no code for it */
  ADZE_COMPILE_CANCELLED = 4,
  ADZE_COMPILE_DEFECT = 70 /* the compiler is at fault */
} adze_compile_status;

/* "Adze 1.2.0 (commit 0123abc), LLVM 22.1.0". */
ADZE_COMPILER_API const char *adze_compiler_version(void);

/* ---- Options ----------------------------------------------------------- */

/* Options of compilations. Must not be changed while a compilation uses it. */
typedef struct adze_compiler_options adze_compiler_options;

ADZE_COMPILER_API adze_compile_status
adze_compiler_options_create(adze_compiler_options **options);
ADZE_COMPILER_API void
adze_compiler_options_release(adze_compiler_options *options);

/* Keys are the flags of atranslate without their dashes (docs/atranslate.md):
 * "O", "j", "q", "v", "stats", "emit", "target", "allow-host-fallback",
 * "mtriple", "mcpu", "mcache", "dim", "shape", "precision", "max-error",
 * "deterministic", "batch-invariant", "tune", "tune-db", "max-compile-seconds",
 * "kernels", "weights", "weights-precision", "kv-precision", "state",
 * "overridable", "cache", "winograd", "check-bounds", "dump-phases", "report",
 * "verify", "blob-dir". A switch takes
 * "true" or "false". "target", "dim", "shape" and "blob-dir" are added to, the
 * others replaced. "j" is "0" by default: as many threads as the machine runs
 * at once, in each compilation.
 *
 * ADZE_COMPILE_USAGE, and no effect, for an unknown key or a wrong value. The
 * compilation checks what options require of each other, and "mcpu", which
 * depends on "mtriple". */
ADZE_COMPILER_API adze_compile_status adze_compiler_options_set(
    adze_compiler_options *options, const char *key, const char *value);
/* Why the last adze_compiler_options_set failed; "" if it did not. Belongs to
 * the options, until the next call. */
ADZE_COMPILER_API const char *
adze_compiler_options_message(const adze_compiler_options *options);
/* All keys as JSON: an array of objects with "name", "kind" ("switch",
 * "value", "repeated"), "help" and "value". Belongs to the library. */
ADZE_COMPILER_API const char *adze_compiler_options_list(void);

/* ---- Following a compilation ------------------------------------------- */

typedef enum {
  ADZE_COMPILE_ERROR = 0,
  ADZE_COMPILE_WARNING = 1,
  ADZE_COMPILE_REMARK = 2, /* with the option "v" */
  ADZE_COMPILE_NOTE = 3    /* also what "stats" prints, line by line */
} adze_compile_severity;

/* One message; lives as long as the call that has it. Fields are only ever
 * appended. Texts are "" where there is none. */
typedef struct {
  size_t size; /* of this struct, as the library was built */
  adze_compile_severity severity;
  const char *file;      /* the model as it was given, or another file */
  int32_t line, column;  /* in MLIR text; 0 elsewhere */
  const char *node;      /* ONNX node: "conv1" */
  const char *op;        /* its operator: "ai.onnx.Conv-22" */
  const char *message;   /* what is wrong and what to do, without the above */
  const char *formatted; /* all of it in one line, as atranslate prints it */
} adze_compile_diagnostic;

/* The callbacks are called from the threads of the compilation. Those of one
 * compilation come one at a time, but for adze_cancel_fn. They must not throw
 * or leave by longjmp, nor start a compilation. */
typedef void (*adze_diagnostic_fn)(void *user,
                                   const adze_compile_diagnostic *diagnostic);
/* A stage has begun ("import", "graph", "tile", "tune", "linalg", "host",
 * "kernel", "llvm", "link", or the name of a CUDA target), or `done` of its
 * `all` kernels are tuned or compiled. 0 of 0: the stage has no kernels. */
typedef void (*adze_progress_fn)(void *user, const char *stage, uint64_t done,
                                 uint64_t all);
/* Returns non-zero to cancel. Polled before each pass and each kernel: the
 * compilation ends without output when the running ones have finished. */
typedef int (*adze_cancel_fn)(void *user);

ADZE_COMPILER_API void
adze_compiler_options_set_diagnostics(adze_compiler_options *options,
                                      adze_diagnostic_fn report, void *user);
ADZE_COMPILER_API void
adze_compiler_options_set_progress(adze_compiler_options *options,
                                   adze_progress_fn report, void *user);
ADZE_COMPILER_API void
adze_compiler_options_set_cancel(adze_compiler_options *options,
                                 adze_cancel_fn isCancelled, void *user);

/* ---- Compilations ------------------------------------------------------ */

/* The result of a compilation or check; owned by the caller. */
typedef struct adze_compiler_result adze_compiler_result;

/* Compiles the model at `model` (.onnx, or .mlir of any level) to the file
 * `output`, which appears whole or not at all. Without `output` (NULL) it is
 * made in memory: see adze_compiler_result_data. `options` may be NULL, and so
 * may `result` with an `output`. */
ADZE_COMPILER_API adze_compile_status adze_compile(
    const char *model, const char *output, const adze_compiler_options *options,
    adze_compiler_result **result);
/* The same for a model in memory, which is not used afterwards. `name` (NULL:
 * "model.onnx") is the path that it is reported under: diagnostics and the
 * module have it, and external data is resolved against its folder. Text
 * ("emit" graph, tile, linalg and llvm) refers to the model's file, and has a
 * file of constants beside it: it is made from a file to a file only. */
ADZE_COMPILER_API adze_compile_status adze_compile_memory(
    const void *model, size_t size, const char *name, const char *output,
    const adze_compiler_options *options, adze_compiler_result **result);

/* A piece of a model in memory. */
typedef struct {
  const void *data; /* NULL: `size` bytes of zero, which take no memory */
  size_t size;
} adze_model_part;
/* The same for a model whose bytes are those of `count` parts in order. They
 * are copied once: weights need not be serialized into one buffer first. */
ADZE_COMPILER_API adze_compile_status
adze_compile_parts(const adze_model_part *parts, size_t count, const char *name,
                   const char *output, const adze_compiler_options *options,
                   adze_compiler_result **result);

/* Imports the model only. The result's data is JSON: {"model": NAME,
 * "status": "ok", "unsupported" or "error", "compiles": BOOL, "nodes": NUMBER,
 * "supported": NUMBER, "summary": TEXT, "operators": [{"operator":
 * "ai.onnx.Conv-22", "issues": NUMBER, "state": TEXT, "remedies": [TEXT]}],
 * "issues": [{"node": NAME, "index": PLACE AMONG THE GRAPH'S NODES, "op":
 * "ai.onnx.Conv-22", "kind": "unsupported" or "error", "reason": TEXT,
 * "missing": BOOL}], "warnings": [TEXT]}; issues outside of any node have
 * neither "node" nor "index" nor "op", and "summary" is there if there are
 * issues. ADZE_COMPILE_INPUT_ERROR if there are any. Of the options "dim",
 * "shape" and "kernels" matter. */
ADZE_COMPILER_API adze_compile_status
adze_compiler_check(const char *model, const adze_compiler_options *options,
                    adze_compiler_result **result);
ADZE_COMPILER_API adze_compile_status adze_compiler_check_memory(
    const void *model, size_t size, const char *name,
    const adze_compiler_options *options, adze_compiler_result **result);
/* The same for a model in parts. Weights may be NULL parts here: their values
 * do not decide what is supported, unless a node takes a shape, an axis or
 * another attribute from them. */
ADZE_COMPILER_API adze_compile_status adze_compiler_check_parts(
    const adze_model_part *parts, size_t count, const char *name,
    const adze_compiler_options *options, adze_compiler_result **result);

/* ---- Results ----------------------------------------------------------- */

/* ADZE_COMPILE_OK for NULL. */
ADZE_COMPILER_API adze_compile_status
adze_compiler_result_status(const adze_compiler_result *result);
/* All errors, one in a line, as atranslate prints them; "" if there are none.
 * Belongs to the result. */
ADZE_COMPILER_API const char *
adze_compiler_result_message(const adze_compiler_result *result);
/* The output in memory: for adze_module_open_memory, or a file. Belongs to the
 * result; NULL and 0 if there is none. */
ADZE_COMPILER_API const void *
adze_compiler_result_data(const adze_compiler_result *result, size_t *size);
ADZE_COMPILER_API void
adze_compiler_result_release(adze_compiler_result *result);

#ifdef __cplusplus
}
#endif
#endif /* ADZE_COMPILER_H */
