/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * ONNX's ImageDecoder, and the formats that need no library: BMP and PNM.
 */
#include "Images.h"
#include "Calls.h"

#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 3 };

adze_status rt_image_make(const char *format, uint64_t width, uint64_t height,
                          rt_image *image) {
  const uint64_t most = UINT64_C(1) << 30; /* pixels */
  if (!width || !height || width > most || height > most / width)
    return rt_error(ADZE_RUN_ERROR,
                    "expected 1 to 2^30 pixels, but got an image of format %s "
                    "of %llu x %llu",
                    format, (unsigned long long)width,
                    (unsigned long long)height);
  size_t bytes = (size_t)(width * height * CHANNELS);
  image->pixels = calloc(bytes, 1);
  if (!image->pixels)
    return rt_out_of_memory(bytes);
  image->width = (uint32_t)width;
  image->height = (uint32_t)height;
  return NULL;
}

void rt_image_free(rt_image *image) {
  free(image->pixels);
  image->pixels = NULL;
}

static adze_status damaged(const char *format) {
  return rt_error(ADZE_RUN_ERROR,
                  "expected a whole image of format %s, but its data are "
                  "damaged or end early",
                  format);
}

/* ---- BMP ----------------------------------------------------------------- */

static uint32_t read_little(const uint8_t *data, int bytes) {
  uint32_t value = 0;
  for (int i = bytes; i-- > 0;)
    value = value << 8 | data[i];
  return value;
}

/* Sets a pixel from `bits` bits of a row: a palette index, or bytes of blue,
 * green and red. */
static bool read_bmp_pixel(const uint8_t *row, uint32_t x, uint32_t bits,
                           const uint8_t *palette, uint32_t colors,
                           uint8_t *pixel) {
  const uint8_t *color = row + (size_t)x * (bits / 8);
  if (bits <= 8) {
    uint32_t each = 8 / bits, shift = (each - 1 - x % each) * bits;
    uint32_t number = row[x / each] >> shift & ((1u << bits) - 1);
    if (number >= colors)
      return false;
    color = palette + (size_t)number * 4;
  }
  for (int i = 0; i < CHANNELS; ++i)
    pixel[i] = color[CHANNELS - 1 - i];
  return true;
}

static adze_status decode_bmp(const uint8_t *data, size_t size,
                              rt_image *image) {
  enum { FILE_HEADER = 14, INFO_HEADER = 40, BIT_FIELDS = 3 };
  if (size < FILE_HEADER + INFO_HEADER)
    return damaged("BMP");
  uint64_t start = read_little(data + 10, 4),
           header = read_little(data + 14, 4);
  int32_t width = (int32_t)read_little(data + 18, 4),
          height = (int32_t)read_little(data + 22, 4);
  uint32_t bits = read_little(data + 28, 2),
           compression = read_little(data + 30, 4),
           colors = read_little(data + 46, 4);
  bool has_palette = bits == 1 || bits == 4 || bits == 8;
  if (header < INFO_HEADER || (compression && compression != BIT_FIELDS) ||
      (compression && bits != 32) || !(has_palette || bits == 24 || bits == 32))
    return rt_error(ADZE_RUN_ERROR,
                    "expected a BMP image without compression, of 1, 4, 8, 24 "
                    "or 32 bits a pixel");
  if (!has_palette)
    colors = 0;
  else if (!colors || colors > 1u << bits)
    colors = 1u << bits;
  uint64_t palette = FILE_HEADER + header;
  bool from_top = height < 0;
  uint64_t rows = from_top ? -(int64_t)height : height,
           columns = width > 0 ? (uint64_t)width : 0,
           stride = (columns * bits + 31) / 32 * 4;
  if (palette + (uint64_t)colors * 4 > size || start > size ||
      (stride && rows > (size - start) / stride))
    return damaged("BMP");
  RT_TRY(rt_image_make("BMP", columns, rows, image));
  for (uint64_t y = 0; y < rows; ++y) {
    const uint8_t *row = data + start + (from_top ? y : rows - 1 - y) * stride;
    for (uint32_t x = 0; x < image->width; ++x)
      if (!read_bmp_pixel(row, x, bits, data + palette, colors,
                          image->pixels + (y * columns + x) * CHANNELS))
        return damaged("BMP");
  }
  return NULL;
}

/* ---- PNM ----------------------------------------------------------------- */

/* The unread part of the text. */
typedef struct {
  const uint8_t *at, *end;
} scanner;

static bool is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Skips blanks, and comments up to the end of their lines. */
static void skip_blanks(scanner *text) {
  bool is_comment = false;
  while (text->at < text->end &&
         (is_comment || is_blank(*text->at) || *text->at == '#')) {
    is_comment = (is_comment || *text->at == '#') && *text->at != '\n';
    ++text->at;
  }
}

/* Reads a number of at most `digits` digits; returns false if there is none. */
static bool scan_number(scanner *text, int digits, uint32_t *number) {
  skip_blanks(text);
  *number = 0;
  int count = 0;
  for (; count < digits && text->at < text->end && *text->at >= '0' &&
         *text->at <= '9';
       ++count)
    *number = *number * 10 + (*text->at++ - '0');
  return count > 0;
}

/* Reads the next sample of a file of kind P1 to P6 with the maximum `most`,
 * scaled to 0..255. */
static bool next_sample(scanner *text, int kind, uint32_t most,
                        uint8_t *sample) {
  uint32_t value = 0;
  size_t bytes = most > 255 ? 2 : 1;
  if (kind <= 3) {
    if (!scan_number(text, kind == 1 ? 1 : 5, &value))
      return false;
  } else {
    if ((size_t)(text->end - text->at) < bytes)
      return false;
    for (size_t i = 0; i < bytes; ++i)
      value = value << 8 | *text->at++;
  }
  if (value > most)
    return false;
  *sample = (uint8_t)((value * 255 + most / 2) / most);
  return true;
}

/* Reads a row of bits, 1 for black. */
static bool next_bits(scanner *text, uint32_t width, uint8_t *row) {
  size_t bytes = ((size_t)width + 7) / 8;
  if ((size_t)(text->end - text->at) < bytes)
    return false;
  for (uint32_t x = 0; x < width; ++x)
    memset(row + (size_t)x * CHANNELS,
           text->at[x / 8] >> (7 - x % 8) & 1 ? 0 : 255, CHANNELS);
  text->at += bytes;
  return true;
}

static bool next_row(scanner *text, int kind, uint32_t most, uint32_t width,
                     uint8_t *row) {
  enum { BIT_TEXT = 1, PIXMAP_TEXT = 3, BITS = 4, PIXMAP = 6 };
  if (kind == BITS)
    return next_bits(text, width, row);
  bool has_colors = kind == PIXMAP_TEXT || kind == PIXMAP;
  for (uint32_t x = 0; x < width; ++x, row += CHANNELS) {
    for (int i = 0; i < (has_colors ? CHANNELS : 1); ++i)
      if (!next_sample(text, kind, most, &row[i]))
        return false;
    if (kind == BIT_TEXT)
      row[0] = 255 - row[0];
    if (!has_colors)
      row[1] = row[2] = row[0];
  }
  return true;
}

static adze_status decode_pnm(const uint8_t *data, size_t size,
                              rt_image *image) {
  int kind = data[1] - '0';
  bool has_most = kind != 1 && kind != 4;
  scanner text = {data + 2, data + size};
  uint32_t width, height, most = 1;
  if (!scan_number(&text, 9, &width) || !scan_number(&text, 9, &height) ||
      (has_most && !scan_number(&text, 5, &most)) || !most || most > 65535 ||
      text.at == text.end)
    return damaged("PNM");
  if (kind >= 4)
    ++text.at; /* one whitespace character ends the header */
  /* Each pixel takes at least one bit. */
  if ((uint64_t)width * height / 8 > size)
    return damaged("PNM");
  RT_TRY(rt_image_make("PNM", width, height, image));
  for (uint32_t y = 0; y < height; ++y)
    if (!next_row(&text, kind, most, width,
                  image->pixels + (size_t)y * width * CHANNELS))
      return damaged("PNM");
  return NULL;
}

/* ---- The operator -------------------------------------------------------- */

/* The signatures of formats, after the first `skip` bytes. */
static const struct {
  size_t skip, length;
  const char *text;
  rt_image_decoder decode;
} formats[] = {
    {0, 3, "\xff\xd8\xff", rt_decode_jpeg},
    {0, 4, "\x89PNG", rt_decode_png},
    {8, 4, "WEBP", rt_decode_webp},
    {0, 4, "II*\0", rt_decode_tiff},
    {0, 4, "MM\0*", rt_decode_tiff},
    {4, 4, "jP  ", rt_decode_jpeg2000},
    {0, 4, "\xff\x4f\xff\x51", rt_decode_jpeg2000},
    {0, 2, "BM", decode_bmp},
    {0, 2, "P1", decode_pnm},
    {0, 2, "P2", decode_pnm},
    {0, 2, "P3", decode_pnm},
    {0, 2, "P4", decode_pnm},
    {0, 2, "P5", decode_pnm},
    {0, 2, "P6", decode_pnm},
};

static adze_status decode(const uint8_t *data, size_t size, rt_image *image) {
  for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); ++i)
    if (size >= formats[i].skip + formats[i].length &&
        !memcmp(data + formats[i].skip, formats[i].text, formats[i].length))
      return formats[i].decode(data, size, image);
  return rt_error(ADZE_RUN_ERROR,
                  "expected the data of an image (JPEG, PNG, WebP, TIFF, JPEG "
                  "2000, BMP or PNM), but got %zu bytes of another format",
                  size);
}

enum { RGB = 0, BGR = 1, GRAYSCALE = 2 };

/* Luma by ITU-R BT.601 with 16 fractional bits, as in Pillow, which computed
 * the expected results of ONNX's tests. */
static uint8_t to_gray(const uint8_t *pixel) {
  return (uint8_t)((pixel[0] * 19595u + pixel[1] * 38470u + pixel[2] * 7471u +
                    0x8000u) >>
                   16);
}

static void store_pixels(const rt_image *image, int64_t format, uint8_t *to) {
  size_t count = (size_t)image->width * image->height;
  const uint8_t *pixel = image->pixels;
  for (size_t i = 0; i < count; ++i, pixel += CHANNELS) {
    if (format == GRAYSCALE) {
      *to++ = to_gray(pixel);
      continue;
    }
    for (int c = 0; c < CHANNELS; ++c)
      *to++ = pixel[format == BGR ? CHANNELS - 1 - c : c];
  }
}

static adze_status decode_image(rt_call *call) {
  const rt_input *x = &call->inputs[0];
  int64_t format = rt_input_int(call, 1, 0);
  rt_image image = {0, 0, NULL};
  adze_status status = decode(x->data, (size_t)x->count, &image);
  if (!status) {
    int64_t dims[] = {image.height, image.width,
                      format == GRAYSCALE ? 1 : CHANNELS};
    status = rt_result_make(call, 0, dims);
  }
  if (!status)
    store_pixels(&image, format, call->results[0].data);
  rt_image_free(&image);
  return status;
}

const rt_function_row rt_image_functions[] = {
    {"decode_image", 2, 2, 1, decode_image}, {NULL, 0, 0, 0, NULL}};
