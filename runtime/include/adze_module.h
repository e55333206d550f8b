/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The contract between a compiled module (model.so) and the run time that
 * loads it. Both sides include this file; users need only adze.h.
 *
 * Every table is append-only. A table that stands alone starts with its own
 * size in bytes; the rows of an array have the size that
 * adze_module_row_sizes gives. An older reader ignores the fields that it does
 * not know, and a newer one reads absent fields as zero. A change that is not
 * an append raises ADZE_MODULE_ABI.
 *
 * ABI 1: adze 0.1. Its arrays have the row sizes of the first release.
 * ABI 2: row sizes; kernels report faults; checksums of the weights.
 */
#ifndef ADZE_MODULE_H
#define ADZE_MODULE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ADZE_MODULE_ABI 2u
#define ADZE_MODULE_OLDEST_ABI 1u /* that this run time still reads */

/* ---- The note ----------------------------------------------------------
 * PT_NOTE, owner "Adze", type ADZE_NOTE_TYPE, in section .note.adze. Read by
 * pread before dlopen; its descriptor is this struct, little-endian. */
#define ADZE_NOTE_OWNER "Adze"
#define ADZE_NOTE_TYPE 1u

/* Bits of cpu_features. A module needs all bits of at least one of its
 * variants; the note carries the set of the least demanding one. */
#define ADZE_X86_SSE42 (1ull << 0)
#define ADZE_X86_AVX (1ull << 1)
#define ADZE_X86_AVX2 (1ull << 2)
#define ADZE_X86_FMA (1ull << 3)
#define ADZE_X86_F16C (1ull << 4)
#define ADZE_X86_BMI2 (1ull << 5)
#define ADZE_X86_AVX512F (1ull << 6)
#define ADZE_X86_AVX512BW (1ull << 7)
#define ADZE_X86_AVX512CD (1ull << 8)
#define ADZE_X86_AVX512DQ (1ull << 9)
#define ADZE_X86_AVX512VL (1ull << 10)
#define ADZE_X86_AVX512VNNI (1ull << 11)
#define ADZE_X86_AVX512BF16 (1ull << 12)
#define ADZE_X86_AVX512FP16 (1ull << 13)
#define ADZE_X86_AMX_TILE (1ull << 14)
#define ADZE_X86_AMX_INT8 (1ull << 15)
#define ADZE_X86_AMX_BF16 (1ull << 16)
#define ADZE_X86_POPCNT (1ull << 17)
#define ADZE_X86_LZCNT (1ull << 18)
#define ADZE_X86_BMI (1ull << 19)
#define ADZE_X86_MOVBE (1ull << 20)
#define ADZE_X86_GFNI (1ull << 21)
#define ADZE_X86_AVXVNNI (1ull << 22)
#define ADZE_X86_AVX512VBMI (1ull << 23)
#define ADZE_X86_AVX512VBMI2 (1ull << 24)
#define ADZE_X86_AVX512IFMA (1ull << 25)
#define ADZE_X86_AVX512BITALG (1ull << 26)
#define ADZE_X86_AVX512VPOPCNTDQ (1ull << 27)

typedef struct {
  uint32_t size;         /* of this struct */
  uint32_t abi;          /* the module's: 1 to ADZE_MODULE_ABI */
  uint32_t machine;      /* ELF e_machine */
  uint32_t checksum;     /* CRC-32 (IEEE 802.3, as zlib) of the whole file, with
                            this field taken as zero and the byte range
                            [weights_offset, +weights_size) left out */
  uint64_t cpu_features; /* ADZE_X86_* */
  uint64_t file_size;    /* bytes */
  uint64_t weights_offset; /* file offset of the weights section, 0 if none */
  uint64_t weights_size;   /* bytes */
} adze_module_note;

/* A second note of the same owner, in a module whose weights are in a separate
 * file: `weights` of the descriptor is then null, and this note names the file
 * in the module's folder. The file is an adze_weights_header, zeros up to
 * ADZE_WEIGHTS_OFFSET, and the weights section. */
#define ADZE_NOTE_WEIGHTS 2u
#define ADZE_WEIGHTS_OFFSET 4096u
#define ADZE_WEIGHTS_MAGIC "AdzeWts" /* with its null byte: 8 bytes */

typedef struct {
  uint32_t size; /* of this struct */
  uint32_t reserved;
  uint64_t weights_size; /* bytes of the section */
  char id[32];           /* hex digest of the section's content */
  char name[256];        /* null-terminated, without a folder */
} adze_module_weights_note;

typedef struct {
  char magic[8];
  uint32_t size;   /* of this struct */
  uint32_t offset; /* ADZE_WEIGHTS_OFFSET */
  uint64_t weights_size;
  char id[32];
  /* Files of ADZE_WEIGHTS_HEADER_1 bytes of header have no more. */
  uint64_t checksums_digest; /* XXH3 of the module's table weights_checksums */
  uint64_t header_digest;    /* XXH3 of the fields before */
} adze_weights_header;

#define ADZE_WEIGHTS_HEADER_1 56u

/* ---- Signature --------------------------------------------------------- */
/* dtype is DLPack's: code (DLDataTypeCode), bits, lanes = 1; bool is
 * kDLBool/8. A tensor of a sub-byte type is packed low bits first. */
typedef struct {
  int64_t size;   /* >= 0: static. -1: dynamic */
  int32_t symbol; /* for an input's dynamic dim: the index of its symbol;
                     for an output: -1, see adze_module_desc.infer */
  int32_t reserved;
} adze_module_dim;

typedef struct {
  const char *name;
  uint8_t dtype_code, dtype_bits;
  uint16_t kind; /* adze_kind. Of strings dtype is that of their numbers; a
                    sequence, map or optional is one number: rank 0 */
  uint32_t rank;
  const adze_module_dim *dims;
} adze_module_value;

typedef struct {
  const char *name; /* "batch"; "" for a dim that the model leaves unnamed */
  int64_t min, max, multiple_of; /* inclusive range; max = -1: unbounded */
} adze_module_symbol;

typedef struct {
  const char *text; /* null-terminated as well */
  uint64_t length;
} adze_module_string;

/* ---- Faults ------------------------------------------------------------ */
/* A fault is an error that only the data shows: an index out of range, an
 * integer division by zero. The descriptor has a row for each place that can
 * raise one. `message` may hold {0}, {1} and {2}, which are replaced by the
 * values of the record: "index {0} is out of range [{1}, {2})". */
typedef struct {
  const char *node; /* ONNX nodes, separated by '\n' */
  const char *message;
} adze_module_fault;

/* The record of one row. All records are zero when a run begins. A kernel that
 * finds a fault stores `values`, then 1 to `raised`, by relaxed atomic stores,
 * and continues with safe values; several threads may raise the same one. When
 * the run has ended, the first raised row is its error (ADZE_RUN_ERROR). */
typedef struct {
  uint64_t raised;
  int64_t values[3];
} adze_fault;

/* ---- Kernels ----------------------------------------------------------- */
/* Runs programs [begin, end) of the kernel's linear program ids.
 *   ptrs     one base address for each tensor argument, inputs then outputs
 *   syms     values of all symbols of the module
 *   scratch  scratch_bytes bytes at 64, private to this call
 *   faults   the records of this launch (adze_module_kernel.first_fault); may
 *            be null if there are none */
typedef void (*adze_kernel_fn)(void *const *ptrs, const int64_t *syms,
                               int64_t begin, int64_t end, void *scratch,
                               adze_fault *faults);
/* The same in a module of ABI 1. */
typedef void (*adze_kernel_fn_1)(void *const *ptrs, const int64_t *syms,
                                 int64_t begin, int64_t end, void *scratch);
typedef int64_t (*adze_formula_fn)(const int64_t *syms);

typedef struct {
  adze_kernel_fn body;
  adze_formula_fn programs;      /* number of programs; never null */
  adze_formula_fn scratch_bytes; /* per call of body; null: none */
} adze_cpu_kernel;

/* A tensor map (CUtensorMap): boxes of a tensor that the device copies between
 * global and shared memory by itself. Dims are given innermost first. */
#define ADZE_TENSOR_MAP_RANK 5u
/* The sizes of up to ADZE_TENSOR_MAP_RANK dims, then the bytes from an element
 * to the next along each dim but the innermost. */
#define ADZE_TENSOR_MAP_VALUES 9u
/* Types: those of CUtensorMapDataType. A copy to shared memory rounds f32 to
 * tf32 if the type of its map is tf32. */
#define ADZE_TENSOR_MAP_U8 0u
#define ADZE_TENSOR_MAP_I32 3u
#define ADZE_TENSOR_MAP_F16 6u
#define ADZE_TENSOR_MAP_F32 7u
#define ADZE_TENSOR_MAP_BF16 9u
#define ADZE_TENSOR_MAP_TF32 11u
typedef struct {
  uint32_t pointer;   /* which of the kernel's tensor arguments */
  uint32_t type;      /* ADZE_TENSOR_MAP_* */
  uint32_t rank;      /* 1 to ADZE_TENSOR_MAP_RANK */
  uint32_t row_bytes; /* of the box in shared memory, whose pieces of 16 bytes
                         are permuted: 32, 64 or 128 */
  /* Elements of the box, each `steps` further than the one before. */
  uint32_t box[ADZE_TENSOR_MAP_RANK], steps[ADZE_TENSOR_MAP_RANK];
} adze_tensor_map;

/* The kernel itself waits for the launches before it
 * (griddepcontrol.wait), and may be started before they are done. */
#define ADZE_KERNEL_WAITS 1u
/* A launch has the programs of one step. Its argument `programs` is the number
 * of the first of them, and programs(syms) is the number in all steps. */
#define ADZE_KERNEL_STEPS 2u

/* On a device a kernel is entry point `entry` of the image, called with
 * (num_ptrs pointers, i64 symbols, i64 programs) by value, and a pointer to
 * the fault records after these if num_faults > 0, over a 1-D grid of
 * programs(syms) blocks. Null entry: this kernel is not in the image. */
typedef struct {
  const char *entry;
  adze_formula_fn programs;
  uint32_t block_threads;
  uint32_t shared_bytes; /* dynamic shared memory of a block */

  /* Appended: a row that ends here has none. */

  /* Not 0: blocks are persistent and run several programs each. This many of
   * them fit a multiprocessor at a time, and no more are launched. */
  uint32_t resident_blocks;
  /* A kernel with maps always gets the pointer to the fault records, and the
   * maps by value after it. Its pointers are multiples of 16 bytes. */
  uint32_t num_maps;
  uint32_t map_size; /* of a row of `maps` */
  uint32_t flags;    /* ADZE_KERNEL_..; 0 in modules before there were any */
  const adze_tensor_map *maps;
  /* Writes ADZE_TENSOR_MAP_VALUES values for each map. */
  void (*map_values)(const int64_t *syms, int64_t *values);
  /* Not 0: up to this many blocks, a cluster, may share a program, so that more
   * multiprocessors take part: all if each of them (of more than two persistent
   * blocks: ten elevenths of them) then has at most one block, else the greatest
   * power of two of which that holds. The grid has that many times as many
   * blocks as programs. At most 8. */
  uint32_t most_shared;
  uint32_t num_symbols; /* the kernel's own, if there is bind_symbols */
  /* Bit i, below 63: the kernel reads symbol i. Bit 63: it may read later ones.
   * 0: unknown. */
  uint64_t symbols_read;
  /* Writes the values of the kernel's own symbols, which `entry`, `programs`,
   * `map_values` and `symbols_read` refer to, so that several kernels may have
   * one entry point. Null: these refer to all symbols of the module. */
  void (*bind_symbols)(const int64_t *syms, int64_t *values);
} adze_device_kernel;

typedef struct {
  const char *name;  /* unique in the module */
  const char *nodes; /* ONNX nodes computed here, separated by '\n' */
  uint32_t num_ptrs; /* tensor arguments; the last num_outputs are written */
  uint32_t num_outputs;
  adze_formula_fn flops, bytes_read, bytes_written; /* null: unknown */

  /* Appended: a row that ends here has none. */

  /* Writes, for each pointer, the number of bytes from there that the kernel
   * may access: these are copied if the CPU runs a device's kernel. Null: all
   * bytes up to the end of the pointer's memory. */
  void (*places)(const int64_t *syms, int64_t *bytes);
  /* The faults of this launch, which the kernel counts from 0: rows
   * [first_fault, first_fault + num_faults) of the module's table. The run ends
   * after a launch that raised one. If there are none, the kernel counts from
   * the table's first row, and the run ends with the first raised one. */
  uint32_t first_fault, num_faults;
} adze_module_kernel;

/* A CPU variant: one table of kernels for one level of features. */
typedef struct {
  uint64_t cpu_features;
  const char *name;               /* "x86-64-v4", "znver4", ... */
  const adze_cpu_kernel *kernels; /* num_kernels entries */
} adze_cpu_variant;

typedef struct {
  const char *target; /* "cuda:sm_90a" */
  uint32_t sm;        /* 90 */
  uint32_t flags;     /* ADZE_IMAGE_* */
  const void *image;
  uint64_t image_size;
  const adze_device_kernel *kernels; /* num_kernels entries */
} adze_device_image;
/* The image is PTX text (null-terminated), not a cubin. */
#define ADZE_IMAGE_PTX 1u
#define ADZE_IMAGE_ARCH_EXACT 2u /* an 'a' target: this SM only */

/* ---- States ------------------------------------------------------------ */
/* An output that continues an input: the caller may pass one buffer for both,
 * and keep it from run to run (see adze_state_info). */
/* Rows between those of the input and `rows` are 0 when the program begins. */
#define ADZE_STATE_ZEROED 1u

/* If the kind is ADZE_STATE_ROWS, the program stores only the new rows, in a
 * buffer of `rows` rows that begins with those of the input; the output is the
 * buffer without its first `drop` rows. Dims before the axis are `pitch` rows
 * apart, and all others dense. States of one pitch symbol have one pitch. */
typedef struct {
  uint32_t input, output;
  uint32_t kind;        /* adze_state_kind */
  uint32_t axis;        /* of the rows */
  uint32_t flags;       /* ADZE_STATE_ZEROED */
  int32_t pitch_symbol; /* one of those that the program binds; -1: none */
  adze_formula_fn rows, drop; /* null of other kinds */
} adze_state;

/* ---- Operators of the program that runs the module ---------------------- */
typedef struct {
  const char *name;
  uint32_t kind; /* adze_attribute_kind */
  uint32_t reserved;
  uint64_t count; /* of values; 1 of a scalar */
  /* int64_t, float or adze_module_string; null if there are none. */
  const void *values;
} adze_module_attribute;

/* One for each node. The host program calls it by "@" and the row's number. */
typedef struct {
  const char *name; /* "com.example.Clip" */
  const char *node; /* ONNX nodes, separated by '\n' */
  uint32_t num_inputs, num_attributes;
  /* For each input of the node, the number of the call's input, or -1 if the
   * node omits it. */
  const int32_t *inputs;
  const adze_module_attribute *attributes;
} adze_module_operator;

/* ---- Overridable weights ------------------------------------------------ */
/* The default of an input that neither the run nor the context sets. */
typedef struct {
  uint64_t offset;     /* in the weights */
  const int64_t *dims; /* as many as the input's rank */
} adze_module_default;

/* ---- Outputs with fewer rows -------------------------------------------- */
/* Dim `dim` of the output is symbol `symbol`, which no input has. It equals
 * symbol `all`, unless the caller passes an output with fewer rows: then the
 * program computes only the last ones. */
typedef struct {
  uint32_t output, dim;
  int32_t all, symbol;
} adze_last_rows;

/* ---- Computed weights --------------------------------------------------- */
/* The product of each window of a filter [outputs, inputs, window] and a
 * matrix [rows, window] of f32. Both are in the weights, at multiples of 64;
 * the filter is f32, f16 or bf16, and so is the result; sums are in f32.
 * Element (row, input, output) is at element
 *   ((((output / panel) * rows + row) * ceil(inputs / group) + input / group)
 *    * panel + output % panel) * group + input % group
 * of the result; others are 0. */
typedef struct {
  uint64_t filter, matrix; /* offsets in the weights */
  uint64_t result;         /* offset in the computed weights */
  uint64_t outputs, inputs, window, rows;
  uint64_t panel, group;
  uint8_t dtype_code, dtype_bits; /* of filter and result */
  uint16_t reserved;
  uint32_t reserved_2;
} adze_module_transform;

/* ---- Functions that the host program calls ------------------------------ */
typedef struct adze_exec adze_exec; /* the run time's state of one run */

typedef struct {
  uint32_t size;
  uint32_t abi;
  /* Runs kernel `kernel` over all its programs; returns when its effects are
   * visible to the next launch. 0, or an error code that the host program
   * returns at once. */
  int32_t (*launch)(adze_exec *, uint32_t kernel, void *const *ptrs);
  /* Copies bytes within the run's device. */
  int32_t (*copy)(adze_exec *, void *dst, const void *src, uint64_t bytes);
  /* Allocates memory until the end of the run, aligned to 64; null on
   * failure. */
  void *(*alloc)(adze_exec *, uint64_t bytes);
  /* Records an error that names an ONNX node; returns an error code. */
  int32_t (*fail)(adze_exec *, const char *node, const char *message);

  /* From here on, a program must check that `size` covers a function before it
   * calls it. */

  /* Copies from memory of the run's device to host memory, when it is complete;
   * and in the other direction. */
  int32_t (*read)(adze_exec *, void *host, const void *place, uint64_t bytes);
  int32_t (*write)(adze_exec *, void *place, const void *host, uint64_t bytes);
  /* Sets symbols[i] to values[i] (-1: no symbol); a value outside of the
   * symbol's range is an error that names `node`. */
  int32_t (*bind)(adze_exec *, const char *node, const int64_t *values,
                  const int64_t *symbols, uint32_t count);
  /* Returns the memory of a box, of at least `bytes` bytes; its first `keep`
   * bytes are kept. It may move. Null on failure. */
  void *(*reserve)(adze_exec *, uint32_t box, uint64_t bytes, uint64_t keep);
  /* Returns the memory of an output whose dims are known now; once per run.
   * Null on failure. */
  void *(*output)(adze_exec *, uint32_t index, const int64_t *dims);

  /* Calls a function of the run time (docs/runtime.md). `values` has, for each
   * input and then for each result: ADZE_VALUE_TYPE, rank, dims; those of
   * results are checked if >= 0, and written. The results are available to
   * `fetch` until the next call. */
  int32_t (*call)(adze_exec *, const char *node, const char *function,
                  void *const *inputs, uint32_t num_inputs,
                  uint32_t num_results, int64_t *values);
  /* Copies this many bytes of a result of the last call to a destination. */
  int32_t (*fetch)(adze_exec *, uint32_t index, void *place, uint64_t bytes);

  /* A launch in this many equal parts (1 if it is less) of the linear program
   * ids, one after the other: each sees all stores of the previous ones. */
  int32_t (*launch_steps)(adze_exec *, uint32_t kernel, void *const *ptrs,
                          int64_t steps);
  /* The same, where each step is `groups` equal parts, one after the other:
   * each sees the stores of its own part in the previous steps, and need not
   * see others. */
  int32_t (*launch_groups)(adze_exec *, uint32_t kernel, void *const *ptrs,
                           int64_t steps, int64_t groups);
  /* Raises row `fault` unless the integer of `bytes` (4 or 8) at `least` is at
   * least `low` and the one at `greatest` is less than `high`: the values of
   * the record are the one that is out of range, low and high. On a device the
   * values are compared when the run has ended. */
  int32_t (*check_range)(adze_exec *, uint32_t fault, const void *least,
                         const void *greatest, uint32_t bytes, int64_t low,
                         int64_t high);
  /* Returns the buffer of a state of ADZE_STATE_ROWS, and sets the symbol of
   * its pitch. Null on failure. */
  void *(*state)(adze_exec *, uint32_t state);
  /* Prints a value of a kernel, which calls this itself: the host program
   * stores the function's address after the launch's last pointer. `numbers`
   * are the DLDataTypeCode of the values (kDLInt of int64_t, or kDLFloat of
   * double), their rank and dims, the number of program ids, and these. */
  void (*print)(const char *kernel, const char *label, const int64_t *numbers,
                const void *values);
  /* Returns the computed weights, at 64. Null on failure. */
  const void *(*computed)(adze_exec *);
} adze_host_table;

#define ADZE_VALUE_TYPE(dtype_code, dtype_bits, kind)                          \
  ((int64_t)(dtype_code) | (int64_t)(dtype_bits) << 8 | (int64_t)(kind) << 16)

/* The host program. `syms` are checked values, then those that the program
 * binds, 0 at first; the place of an output with data-dependent dims
 * is not in `outputs`; inputs and outputs are base
 * addresses of dense row-major tensors; arena has arena_bytes(syms) bytes and
 * weights is the module's weights section, both at 64 and on the run's device.
 */
typedef int32_t (*adze_run_fn)(const adze_host_table *, adze_exec *,
                               void *const *inputs, void *const *outputs,
                               void *arena, const void *weights,
                               const int64_t *syms);

#define ADZE_MISFIT_BASE 32768

/* ---- The descriptor ---------------------------------------------------- */
/* The bytes of a row of each array of the descriptor. */
typedef struct {
  uint32_t size; /* of this struct */
  uint32_t value, dim, symbol, string, kernel, variant, cpu_kernel, image,
      device_kernel, fault;

  /* Appended. */
  uint32_t state, host_operator, attribute, default_value;
  uint32_t last_rows, transform;
  uint32_t reserved; /* 0 */
} adze_module_row_sizes;

/* Those of this header. */
#define ADZE_MODULE_ROW_SIZES                                                  \
  {sizeof(adze_module_row_sizes), sizeof(adze_module_value),                   \
   sizeof(adze_module_dim),       sizeof(adze_module_symbol),                  \
   sizeof(adze_module_string),    sizeof(adze_module_kernel),                  \
   sizeof(adze_cpu_variant),      sizeof(adze_cpu_kernel),                     \
   sizeof(adze_device_image),     sizeof(adze_device_kernel),                  \
   sizeof(adze_module_fault),     sizeof(adze_state),                          \
   sizeof(adze_module_operator),  sizeof(adze_module_attribute),               \
   sizeof(adze_module_default),   sizeof(adze_last_rows),                      \
   sizeof(adze_module_transform), 0}

#define ADZE_WEIGHTS_BLOCK                                                     \
  ((uint64_t)4 << 20) /* bytes that have a checksum                            \
                       */

typedef struct adze_module_desc {
  uint32_t size;
  uint32_t abi;
  const char *producer; /* "adze 0.1.0" */
  const char *build_id; /* hex digest of the module's content */
  const char *model_name;

  uint32_t num_inputs, num_outputs, num_symbols, num_kernels;
  const adze_module_value *inputs, *outputs;
  const adze_module_symbol *symbols;
  const adze_module_kernel *kernels;

  uint32_t num_variants, num_images;
  const adze_cpu_variant *variants; /* best first */
  const adze_device_image *images;

  const void *weights; /* null: in a file, see adze_module_weights_note */
  uint64_t weights_size;

  adze_run_fn run;
  /* Writes all outputs' dims, one after the other; a dynamic dim is -1, and a
   * negative size is written decreased by one. */
  void (*infer)(const int64_t *syms, int64_t *dims);
  /* arena_bytes is negative for sizes that violate the assumptions of the
   * model's operators: -1 - (a + b * ADZE_MISFIT_BASE), where a and b are 0 or
   * one more than the number of a symbol of the violated condition. */
  adze_formula_fn arena_bytes, arena_lower_bound;

  /* Symbols after the num_symbols ones, which the program binds during the run
   * (`symbols` has rows for them, too), and memory of dynamic size. */
  uint32_t num_data_symbols, num_boxes;

  /* For inputs, then outputs: "seq(tensor(float))" for a sequence, map or
   * optional; null for others, and null if all are. */
  const char *const *types;
  /* A string is a number: its index in the run's table of strings, which
   * contains each once. The table begins with these (0 is always ""); others
   * are appended during the run. */
  const adze_module_string *strings;
  uint64_t num_strings;

  /* From here on: ABI 2. */

  const adze_module_row_sizes *row_sizes; /* never null */
  const adze_module_fault *faults;
  uint64_t num_faults;
  /* XXH3 (64 bits, seed 0) of each ADZE_WEIGHTS_BLOCK bytes of the weights,
   * wherever they are; the last block may be shorter. Null: there are none. */
  const uint64_t *weights_checksums;
  const adze_state *states;
  uint64_t num_states;

  /* Not null: the program for devices differs from that for CPUs. It has the
   * images, and this descriptor has none. Its signature, symbols of inputs, ABI
   * and row sizes are the same; its weights are weights_size bytes from
   * weights_offset of this section; its `weights`, `weights_checksums` and
   * `devices` are null. */
  const struct adze_module_desc *devices;
  uint64_t weights_offset; /* of a program for devices; else 0 */

  /* Hex digest of the code and of the offsets of the weights: modules with
   * equal ones differ in the contents of weights only. Null: unknown. */
  const char *structure_id;

  const adze_module_operator *operators;
  uint64_t num_operators;
  /* The last num_defaults inputs are overridable weights. */
  const adze_module_default *defaults;
  uint64_t num_defaults;
  const adze_last_rows *last_rows;
  uint64_t num_last_rows;
  /* Weights that the run time computes before the first run; the host program
   * gets them from adze_host_table.computed. */
  const adze_module_transform *transforms;
  uint64_t num_transforms;
  uint64_t computed_size; /* bytes */
} adze_module_desc;

/* The one exported symbol of a module; null if it cannot serve `abi`. */
#define ADZE_MODULE_QUERY "adze_module_query"
typedef const adze_module_desc *(*adze_module_query_fn)(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif /* ADZE_MODULE_H */
