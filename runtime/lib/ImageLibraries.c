/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Decodes images with libraries of the system, which are loaded on the first
 * image of their format. The functions and structures that are used are
 * declared here, by the libraries' public documentation.
 * */
#include "Images.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Loading ------------------------------------------------------------- */

typedef struct {
  const char *file, *package; /* Debian's name of it */
  const char *const *symbols;
  void **functions; /* one for each name */
  pthread_mutex_t lock;
  bool is_loaded;
} library;

static adze_status load(library *which) {
  adze_status status = NULL;
  pthread_mutex_lock(&which->lock);
  void *handle =
      which->is_loaded ? NULL : dlopen(which->file, RTLD_NOW | RTLD_LOCAL);
  bool is_missing = !which->is_loaded && !handle;
  for (size_t i = 0; handle && which->symbols[i] && !is_missing; ++i) {
    which->functions[i] = dlsym(handle, which->symbols[i]);
    is_missing = !which->functions[i];
  }
  if (is_missing) {
    const char *reason = dlerror();
    status = rt_error(ADZE_UNSUPPORTED,
                      "expected %s, which decodes images of this format, to be "
                      "installed (package %s): %s",
                      which->file, which->package, reason ? reason : "");
  }
  which->is_loaded |= !is_missing;
  pthread_mutex_unlock(&which->lock);
  return status;
}

/* Declares a library of the functions in LIST: F(result, name, parameters). */
#define DECLARE(result, name, parameters) result(*name) parameters;
#define NAME(result, name, parameters) #name,
#define LIBRARY(id, file, package, LIST)                                       \
  static union {                                                               \
    struct {                                                                   \
      LIST(DECLARE)                                                            \
    } f;                                                                       \
    void *functions[1];                                                        \
  } id;                                                                        \
  static const char *const id##_symbols[] = {LIST(NAME) NULL};                 \
  static library id##_library = {                                              \
      file, package, id##_symbols, id.functions, PTHREAD_MUTEX_INITIALIZER,    \
      false}

static adze_status refused(const char *format, const char *reason) {
  return rt_error(ADZE_RUN_ERROR,
                  "expected a whole image of format %s, but its data are "
                  "damaged or end early: %s",
                  format, reason);
}

/* ---- JPEG: the TurboJPEG interface of libjpeg-turbo -----------------------
 */

#define TJ_FUNCTIONS(F)                                                        \
  F(void *, tjInitDecompress, (void))                                          \
  F(int, tjDecompressHeader3,                                                  \
    (void *, const unsigned char *, unsigned long, int *, int *, int *,        \
     int *))                                                                   \
  F(int, tjDecompress2,                                                        \
    (void *, const unsigned char *, unsigned long, unsigned char *, int, int,  \
     int, int, int))                                                           \
  F(char *, tjGetErrorStr2, (void *))                                          \
  F(int, tjDestroy, (void *))
LIBRARY(jpeg, "libturbojpeg.so.0", "libturbojpeg0", TJ_FUNCTIONS);

adze_status rt_decode_jpeg(const uint8_t *data, size_t size, rt_image *image) {
  enum { PIXELS_RGB = 0, ACCURATE_DCT = 4096 };
  RT_TRY(load(&jpeg_library));
  void *decoder = jpeg.f.tjInitDecompress();
  if (!decoder)
    return rt_out_of_memory(0);
  int width = 0, height = 0, sampling, colors;
  adze_status status = NULL;
  if (jpeg.f.tjDecompressHeader3(decoder, data, size, &width, &height,
                                 &sampling, &colors))
    status = refused("JPEG", jpeg.f.tjGetErrorStr2(decoder));
  if (!status)
    status = rt_image_make("JPEG", (uint64_t)width, (uint64_t)height, image);
  if (!status && jpeg.f.tjDecompress2(decoder, data, size, image->pixels, width,
                                      0, height, PIXELS_RGB, ACCURATE_DCT))
    status = refused("JPEG", jpeg.f.tjGetErrorStr2(decoder));
  jpeg.f.tjDestroy(decoder);
  return status;
}

/* ---- PNG: the simplified interface of libpng ------------------------------
 */

typedef struct {
  void *opaque;
  uint32_t version, width, height, format, flags, colormap_entries,
      warning_or_error;
  char message[64];
} png_header;

#define PNG_FUNCTIONS(F)                                                       \
  F(int, png_image_begin_read_from_memory,                                     \
    (png_header *, const void *, size_t))                                      \
  F(int, png_image_finish_read,                                                \
    (png_header *, const void *, void *, int32_t, void *))                     \
  F(void, png_image_free, (png_header *))
LIBRARY(png, "libpng16.so.16", "libpng16-16", PNG_FUNCTIONS);

adze_status rt_decode_png(const uint8_t *data, size_t size, rt_image *image) {
  enum { VERSION = 1, FORMAT_RGBA = 3, FLAG_16BIT_SRGB = 4, MORE = 1 };
  RT_TRY(load(&png_library));
  png_header header;
  memset(&header, 0, sizeof(header));
  header.version = VERSION;
  if (!png.f.png_image_begin_read_from_memory(&header, data, size))
    return refused("PNG", header.message);
  header.format = FORMAT_RGBA;
  header.flags |= FLAG_16BIT_SRGB;
  adze_status status = rt_image_make("PNG", header.width, header.height, image);
  size_t count = (size_t)header.width * header.height;
  uint8_t *pixels = status ? NULL : malloc(count * 4);
  if (!status && !pixels)
    status = rt_out_of_memory(count * 4);
  if (!status &&
      (!png.f.png_image_finish_read(&header, NULL, pixels, 0, NULL) ||
       header.warning_or_error > MORE))
    status = refused("PNG", header.message);
  for (size_t i = 0; !status && i < count; ++i)
    memcpy(image->pixels + i * 3, pixels + i * 4, 3);
  free(pixels);
  png.f.png_image_free(&header);
  return status;
}

/* ---- WebP -----------------------------------------------------------------
 */

#define WEBP_FUNCTIONS(F)                                                      \
  F(int, WebPGetInfo, (const uint8_t *, size_t, int *, int *))                 \
  F(uint8_t *, WebPDecodeRGBInto,                                              \
    (const uint8_t *, size_t, uint8_t *, size_t, int))
LIBRARY(webp, "libwebp.so.7", "libwebp7", WEBP_FUNCTIONS);

adze_status rt_decode_webp(const uint8_t *data, size_t size, rt_image *image) {
  RT_TRY(load(&webp_library));
  int width = 0, height = 0;
  if (!webp.f.WebPGetInfo(data, size, &width, &height))
    return refused("WebP", "its header");
  RT_TRY(rt_image_make("WebP", (uint64_t)width, (uint64_t)height, image));
  size_t bytes = (size_t)width * (size_t)height * 3;
  if (!webp.f.WebPDecodeRGBInto(data, size, image->pixels, bytes, width * 3))
    return refused("WebP", "its pixels");
  return NULL;
}

/* ---- TIFF ------------------------------------------------------------------
 */

typedef struct {
  const uint8_t *data;
  uint64_t size, at;
} memory_file;

static ptrdiff_t read_memory(void *user, void *to, ptrdiff_t bytes) {
  memory_file *file = user;
  uint64_t left = file->at < file->size ? file->size - file->at : 0,
           taken = (uint64_t)bytes < left ? (uint64_t)bytes : left;
  if (taken)
    memcpy(to, file->data + file->at, (size_t)taken);
  file->at += taken;
  return (ptrdiff_t)taken;
}

static ptrdiff_t write_nothing(void *user, void *from, ptrdiff_t bytes) {
  (void)user, (void)from, (void)bytes;
  return -1;
}

static uint64_t seek_memory(void *user, uint64_t offset, int from) {
  memory_file *file = user;
  file->at = (from == SEEK_SET   ? 0
              : from == SEEK_CUR ? file->at
                                 : file->size) +
             offset;
  return file->at;
}

static int close_nothing(void *user) {
  (void)user;
  return 0;
}

static uint64_t get_size(void *user) { return ((memory_file *)user)->size; }

/* The first message of the library, which would otherwise go to stderr. */
typedef struct {
  char text[160];
} message;

static int keep_message(void *file, void *user, const char *module,
                        const char *format, va_list arguments) {
  (void)file, (void)module;
  message *kept = user;
  if (!*kept->text)
    vsnprintf(kept->text, sizeof(kept->text), format, arguments);
  return 1; /* other handlers are not called */
}

static int ignore_warning(void *file, void *user, const char *module,
                          const char *format, va_list arguments) {
  (void)file, (void)user, (void)module, (void)format, (void)arguments;
  return 1;
}

typedef int (*message_handler)(void *, void *, const char *, const char *,
                               va_list);

#define TIFF_FUNCTIONS(F)                                                      \
  F(void *, TIFFOpenOptionsAlloc, (void))                                      \
  F(void, TIFFOpenOptionsSetErrorHandlerExtR,                                  \
    (void *, message_handler, void *))                                         \
  F(void, TIFFOpenOptionsSetWarningHandlerExtR,                                \
    (void *, message_handler, void *))                                         \
  F(void, TIFFOpenOptionsFree, (void *))                                       \
  F(void *, TIFFClientOpenExt,                                                 \
    (const char *, const char *, void *,                                       \
     ptrdiff_t (*)(void *, void *, ptrdiff_t),                                 \
     ptrdiff_t (*)(void *, void *, ptrdiff_t),                                 \
     uint64_t (*)(void *, uint64_t, int), int (*)(void *),                     \
     uint64_t (*)(void *), void *, void *, void *))                            \
  F(int, TIFFGetField, (void *, uint32_t, ...))                                \
  F(int, TIFFReadRGBAImageOriented,                                            \
    (void *, uint32_t, uint32_t, uint32_t *, int, int))                        \
  F(void, TIFFClose, (void *))
LIBRARY(tiff, "libtiff.so.6", "libtiff6", TIFF_FUNCTIONS);

static adze_status read_tiff(void *file, const message *error,
                             rt_image *image) {
  enum { TAG_WIDTH = 256, TAG_LENGTH = 257, TOP_LEFT = 1, STOP = 1 };
  uint32_t width = 0, height = 0;
  if (!tiff.f.TIFFGetField(file, TAG_WIDTH, &width) ||
      !tiff.f.TIFFGetField(file, TAG_LENGTH, &height))
    return refused("TIFF", error->text);
  RT_TRY(rt_image_make("TIFF", width, height, image));
  size_t count = (size_t)width * height;
  uint32_t *pixels = malloc(count * sizeof(*pixels));
  if (!pixels)
    return rt_out_of_memory(count * sizeof(*pixels));
  bool is_whole = tiff.f.TIFFReadRGBAImageOriented(file, width, height, pixels,
                                                   TOP_LEFT, STOP);
  for (size_t i = 0; is_whole && i < count; ++i)
    for (int c = 0; c < 3; ++c)
      image->pixels[i * 3 + (size_t)c] = (uint8_t)(pixels[i] >> (8 * c));
  free(pixels);
  return is_whole ? NULL : refused("TIFF", error->text);
}

adze_status rt_decode_tiff(const uint8_t *data, size_t size, rt_image *image) {
  RT_TRY(load(&tiff_library));
  memory_file memory = {data, size, 0};
  message error = {""};
  void *options = tiff.f.TIFFOpenOptionsAlloc();
  if (!options)
    return rt_out_of_memory(0);
  tiff.f.TIFFOpenOptionsSetErrorHandlerExtR(options, keep_message, &error);
  tiff.f.TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, NULL);
  void *file = tiff.f.TIFFClientOpenExt(
      "image", "rm", &memory, read_memory, write_nothing, seek_memory,
      close_nothing, get_size, NULL, NULL, options);
  tiff.f.TIFFOpenOptionsFree(options);
  if (!file)
    return refused("TIFF", error.text);
  adze_status status = read_tiff(file, &error, image);
  tiff.f.TIFFClose(file);
  return status;
}

/* ---- JPEG 2000: OpenJPEG ---------------------------------------------------
 */

typedef struct {
  uint32_t dx, dy, w, h, x0, y0, prec, bpp, sgnd, resno_decoded, factor;
  int32_t *data;
  uint16_t alpha;
} jp2_component;

typedef struct {
  uint32_t x0, y0, x1, y1, numcomps;
  int color_space;
  jp2_component *comps;
} jp2_image;

#define JP2_FUNCTIONS(F)                                                       \
  F(void *, opj_create_decompress, (int))                                      \
  F(void, opj_set_default_decoder_parameters, (void *))                        \
  F(int, opj_setup_decoder, (void *, void *))                                  \
  F(void *, opj_stream_create, (size_t, int))                                  \
  F(void, opj_stream_set_read_function,                                        \
    (void *, size_t (*)(void *, size_t, void *)))                              \
  F(void, opj_stream_set_skip_function,                                        \
    (void *, int64_t (*)(int64_t, void *)))                                    \
  F(void, opj_stream_set_seek_function, (void *, int (*)(int64_t, void *)))    \
  F(void, opj_stream_set_user_data, (void *, void *, void (*)(void *)))        \
  F(void, opj_stream_set_user_data_length, (void *, uint64_t))                 \
  F(int, opj_read_header, (void *, void *, jp2_image **))                      \
  F(int, opj_decode, (void *, void *, jp2_image *))                            \
  F(void, opj_destroy_codec, (void *))                                         \
  F(void, opj_stream_destroy, (void *))                                        \
  F(void, opj_image_destroy, (jp2_image *))
LIBRARY(jp2, "libopenjp2.so.7", "libopenjp2-7", JP2_FUNCTIONS);

static size_t read_stream(void *to, size_t bytes, void *user) {
  ptrdiff_t taken = read_memory(user, to, (ptrdiff_t)bytes);
  return taken ? (size_t)taken : (size_t)-1; /* end of the data */
}

static int64_t skip_stream(int64_t bytes, void *user) {
  seek_memory(user, (uint64_t)bytes, SEEK_CUR);
  return bytes;
}

static int seek_stream(int64_t offset, void *user) {
  seek_memory(user, (uint64_t)offset, SEEK_SET);
  return 1;
}

/* Returns a sample of a component as an unsigned 8-bit integer. */
static uint8_t get_sample(const jp2_component *component, size_t at) {
  int64_t value = component->data[at];
  if (component->sgnd)
    value += INT64_C(1) << (component->prec - 1);
  value = component->prec > 8 ? value >> (component->prec - 8)
                              : value << (8 - component->prec);
  return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static adze_status take_components(const jp2_image *from, rt_image *image) {
  enum { YCC = 3 };
  if (!from->numcomps || !from->comps || from->color_space == YCC)
    return refused("JPEG 2000", "components of red, green and blue");
  const jp2_component *first = from->comps;
  bool is_gray = from->numcomps < 3;
  for (int c = 0; c < (is_gray ? 1 : 3); ++c)
    if (!first[c].data || first[c].w != first->w || first[c].h != first->h ||
        !first[c].prec || first[c].prec > 31)
      return refused("JPEG 2000", "components of one size");
  RT_TRY(rt_image_make("JPEG 2000", first->w, first->h, image));
  size_t count = (size_t)first->w * first->h;
  for (size_t i = 0; i < count; ++i)
    for (size_t c = 0; c < 3; ++c)
      image->pixels[i * 3 + c] = get_sample(&first[is_gray ? 0 : c], i);
  return NULL;
}

adze_status rt_decode_jpeg2000(const uint8_t *data, size_t size,
                               rt_image *image) {
  enum { CODE_STREAM = 0, FILE_FORMAT = 2, BLOCK = 1 << 16, INPUT = 1 };
  RT_TRY(load(&jp2_library));
  memory_file memory = {data, size, 0};
  /* The parameter struct holds two file names and several numbers, 8.3 KB in
     total. */
  void *parameters = calloc(1, BLOCK);
  void *codec =
      jp2.f.opj_create_decompress(data[0] ? CODE_STREAM : FILE_FORMAT);
  void *stream = jp2.f.opj_stream_create(BLOCK, INPUT);
  jp2_image *decoded = NULL;
  adze_status status = NULL;
  if (!parameters || !codec || !stream) {
    status = rt_out_of_memory(BLOCK);
  } else {
    jp2.f.opj_stream_set_read_function(stream, read_stream);
    jp2.f.opj_stream_set_skip_function(stream, skip_stream);
    jp2.f.opj_stream_set_seek_function(stream, seek_stream);
    jp2.f.opj_stream_set_user_data(stream, &memory, NULL);
    jp2.f.opj_stream_set_user_data_length(stream, size);
    jp2.f.opj_set_default_decoder_parameters(parameters);
    if (!jp2.f.opj_setup_decoder(codec, parameters) ||
        !jp2.f.opj_read_header(stream, codec, &decoded) ||
        !jp2.f.opj_decode(codec, stream, decoded))
      status = refused("JPEG 2000", "its code stream");
  }
  if (!status)
    status = take_components(decoded, image);
  if (decoded)
    jp2.f.opj_image_destroy(decoded);
  if (codec)
    jp2.f.opj_destroy_codec(codec);
  if (stream)
    jp2.f.opj_stream_destroy(stream);
  free(parameters);
  return status;
}
