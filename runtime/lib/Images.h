/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Encoded images.
 */
#ifndef ADZE_IMAGES_H
#define ADZE_IMAGES_H

#include "Runtime.h"

/* Pixels of red, green and blue, in rows from top to bottom. */
typedef struct {
  uint32_t width, height;
  uint8_t *pixels; /* owned; 3 * width * height bytes */
} rt_image;

/* Checks the size of an image and allocates its pixels. */
adze_status rt_image_make(const char *format, uint64_t width, uint64_t height,
                          rt_image *image);
void rt_image_free(rt_image *image);

/* Decoders, one for each format. On failure they leave the image empty. A
 * library is loaded on the first image that needs it (ImageLibraries.c). */
typedef adze_status (*rt_image_decoder)(const uint8_t *data, size_t size,
                                        rt_image *image);
adze_status rt_decode_jpeg(const uint8_t *data, size_t size, rt_image *image);
adze_status rt_decode_png(const uint8_t *data, size_t size, rt_image *image);
adze_status rt_decode_webp(const uint8_t *data, size_t size, rt_image *image);
adze_status rt_decode_tiff(const uint8_t *data, size_t size, rt_image *image);
adze_status rt_decode_jpeg2000(const uint8_t *data, size_t size,
                               rt_image *image);

#endif /* ADZE_IMAGES_H */
