/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The C API of the Adze compiler: compiles ONNX models to modules for adze.h.
 * Plain C11; no exception crosses it, and it installs no signal handlers.
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
 * Any number of compilations may run concurrently in a process, also with the
 * same options. A crash of the compiler ends the process: a program that must
 * survive it compiles in a separate process.
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

/* The exit statuses of atranslate, and ADZE_COMPILE_CANCELLED. */
typedef enum {
  ADZE_COMPILE_OK = 0,
  ADZE_COMPILE_INPUT_ERROR = 1, /* an error of the model or of a file */
  ADZE_COMPILE_USAGE = 2,       /* an option or an argument is wrong */
  ADZE_COMPILE_UNSUPPORTED = 3, /* a valid model that is not supported */
  ADZE_COMPILE_CANCELLED = 4,
  ADZE_COMPILE_DEFECT = 70 /* an internal error of the compiler */
} adze_compile_status;

/* Returns the version: "Adze 1.2.0 (commit 0123abc), LLVM 22.1.0". */
ADZE_COMPILER_API const char *adze_compiler_version(void);

/* ---- Options ----------------------------------------------------------- */

/* Options of compilations. Must not be changed while a compilation uses it. */
typedef struct adze_compiler_options adze_compiler_options;

ADZE_COMPILER_API adze_compile_status
adze_compiler_options_create(adze_compiler_options **options);
ADZE_COMPILER_API void
adze_compiler_options_release(adze_compiler_options *options);

/* Sets an option. Keys are the flags of atranslate without dashes:
 * "O", "j", "q", "v", "stats", "emit", "target", "allow-host-fallback",
 * "mtriple", "mcpu", "mcache", "dim", "shape", "precision", "max-error",
 * "deterministic", "batch-invariant", "tune", "tune-db", "max-compile-seconds",
 * "kernels", "weights", "weights-precision", "kv-precision", "state",
 * "overridable", "cache", "winograd", "check-bounds", "dump-phases", "report",
 * "verify", "blob-dir" (docs/atranslate.md). The value of a switch is "true" or
 * "false". "target", "dim", "shape" and "blob-dir" accumulate values; for other
 * keys a new value replaces the old one. "j" is "0" by default: each
 * compilation uses one thread for each CPU.
 *
 * Returns ADZE_COMPILE_USAGE without an effect for an unknown key or a wrong
 * value. Combinations of options, and "mcpu", which depends on "mtriple", are
 * checked when a model is compiled. */
ADZE_COMPILER_API adze_compile_status adze_compiler_options_set(
    adze_compiler_options *options, const char *key, const char *value);
/* Returns the reason why the last adze_compiler_options_set failed, or "" if it
 * succeeded. The text belongs to the options, and is valid until the next
 * call. */
ADZE_COMPILER_API const char *
adze_compiler_options_message(const adze_compiler_options *options);
/* Returns all keys as JSON: an array of objects with "name", "kind" ("switch",
 * "value", "repeated"), "help" and "value". The text belongs to the library. */
ADZE_COMPILER_API const char *adze_compiler_options_list(void);

/* ---- Diagnostics, progress, cancellation ------------------------------- */

typedef enum {
  ADZE_COMPILE_ERROR = 0,
  ADZE_COMPILE_WARNING = 1,
  ADZE_COMPILE_REMARK = 2, /* with the option "v" */
  ADZE_COMPILE_NOTE = 3    /* also the output of "stats", line by line */
} adze_compile_severity;

/* One message, which is valid during the call of the callback. New fields are
 * only appended. A missing text is "". */
typedef struct {
  size_t size; /* sizeof(adze_compile_diagnostic) of the library */
  adze_compile_severity severity;
  const char *file;      /* the path of the model as given, or another file */
  int32_t line, column;  /* in MLIR text; 0 elsewhere */
  const char *node;      /* ONNX node: "conv1" */
  const char *op;        /* its operator: "ai.onnx.Conv-22" */
  const char *message;   /* the error and a remedy, without the above fields */
  const char *formatted; /* the whole message in one line, as atranslate prints
                            it */
} adze_compile_diagnostic;

/* Threads of the compilation call the callbacks. Calls for one compilation are
 * sequential, except for those of adze_cancel_fn. A callback must not throw,
 * call longjmp, or start a compilation. */
typedef void (*adze_diagnostic_fn)(void *user,
                                   const adze_compile_diagnostic *diagnostic);
/* Called when a stage begins ("import", "graph", "tile", "tune", "linalg",
 * "host", "kernel", "llvm", "link", or the name of a CUDA target), and when
 * `done` of its `all` kernels have been tuned or compiled. Both are 0 for a
 * stage without kernels. */
typedef void (*adze_progress_fn)(void *user, const char *stage, uint64_t done,
                                 uint64_t all);
/* Returns non-zero to cancel. It is called before each pass and each kernel; a
 * cancelled compilation ends without output when active passes and kernels have
 * finished. */
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

/* Compiles the model at the path `model` (.onnx, or .mlir of any level) to the
 * file `output`, which is written completely or not at all. If `output` is
 * NULL, the module stays in memory: see adze_compiler_result_data. `options`
 * may be NULL, and so may `result` if there is an `output`. */
ADZE_COMPILER_API adze_compile_status adze_compile(
    const char *model, const char *output, const adze_compiler_options *options,
    adze_compiler_result **result);
/* Compiles a model in memory, which is not used afterwards. `name` (NULL:
 * "model.onnx") is the path of the model in diagnostics and in the module, and
 * external data is resolved against its folder. MLIR text ("emit" graph, tile,
 * linalg and llvm) refers to the model's file and to a file of constants, so it
 * requires a model file and an output file. */
ADZE_COMPILER_API adze_compile_status adze_compile_memory(
    const void *model, size_t size, const char *name, const char *output,
    const adze_compiler_options *options, adze_compiler_result **result);

/* A part of a model in memory. */
typedef struct {
  const void *data; /* NULL: `size` zero bytes, which need no memory */
  size_t size;
} adze_model_part;
/* Compiles a model whose bytes are the concatenation of `count` parts. They are
 * copied once, so weights need not be serialized to one buffer first. */
ADZE_COMPILER_API adze_compile_status
adze_compile_parts(const adze_model_part *parts, size_t count, const char *name,
                   const char *output, const adze_compiler_options *options,
                   adze_compiler_result **result);

/* Imports the model without compiling it. The result's data is JSON: {"model":
 * NAME, "status": "ok", "unsupported" or "error", "compiles": BOOL, "nodes":
 * NUMBER, "supported": NUMBER, "summary": TEXT, "operators": [{"operator":
 * "ai.onnx.Conv-22", "issues": NUMBER, "state": TEXT, "remedies": [TEXT]}],
 * "issues": [{"node": NAME, "index": INDEX IN THE GRAPH, "op":
 * "ai.onnx.Conv-22", "kind": "unsupported" or "error", "reason": TEXT,
 * "missing": BOOL}], "warnings": [TEXT]}. Issues that concern no node lack
 * "node", "index" and "op"; "summary" is present if there are issues. Returns
 * ADZE_COMPILE_INPUT_ERROR if there are issues. Only the options "dim", "shape"
 * and "kernels" have an effect. */
ADZE_COMPILER_API adze_compile_status
adze_compiler_check(const char *model, const adze_compiler_options *options,
                    adze_compiler_result **result);
ADZE_COMPILER_API adze_compile_status adze_compiler_check_memory(
    const void *model, size_t size, const char *name,
    const adze_compiler_options *options, adze_compiler_result **result);
/* Checks a model in parts. Weights may be NULL parts: their values do not
 * affect the result, unless a node reads a shape, an axis or another attribute
 * from them. */
ADZE_COMPILER_API adze_compile_status adze_compiler_check_parts(
    const adze_model_part *parts, size_t count, const char *name,
    const adze_compiler_options *options, adze_compiler_result **result);

/* ---- Results ----------------------------------------------------------- */

/* Returns the status of a result; ADZE_COMPILE_OK for NULL. */
ADZE_COMPILER_API adze_compile_status
adze_compiler_result_status(const adze_compiler_result *result);
/* Returns all errors, one in each line, as atranslate prints them; "" if there
 * are none. The text belongs to the result. */
ADZE_COMPILER_API const char *
adze_compiler_result_message(const adze_compiler_result *result);
/* Returns the output in memory, which belongs to the result; NULL and size 0 if
 * there is none. adze_module_open_memory opens a module in memory. */
ADZE_COMPILER_API const void *
adze_compiler_result_data(const adze_compiler_result *result, size_t *size);
ADZE_COMPILER_API void
adze_compiler_result_release(adze_compiler_result *result);

#ifdef __cplusplus
}
#endif
#endif /* ADZE_COMPILER_H */
