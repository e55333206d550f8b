/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Encoded images.
 */
#ifndef ADZE_IMAGES_H
#define ADZE_IMAGES_H

#include "Runtime.h"

/* Pixels of red, green and blue, row after row from the top. */
typedef struct {
  uint32_t width, height;
  uint8_t *pixels; /* owned; 3 * width * height bytes */
} rt_image;

/* Allocates the pixels of an image, whose size is checked here. */
adze_status rt_image_make(const char *format, uint64_t width, uint64_t height,
                          rt_image *image);
void rt_image_free(rt_image *image);

/* Decoders of one format each. They leave the image empty where they fail. A
 * library is loaded by the first image that needs it (ImageLibraries.c). */
typedef adze_status (*rt_image_decoder)(const uint8_t *data, size_t size,
                                        rt_image *image);
adze_status rt_decode_jpeg(const uint8_t *data, size_t size, rt_image *image);
adze_status rt_decode_png(const uint8_t *data, size_t size, rt_image *image);
adze_status rt_decode_webp(const uint8_t *data, size_t size, rt_image *image);
adze_status rt_decode_tiff(const uint8_t *data, size_t size, rt_image *image);
adze_status rt_decode_jpeg2000(const uint8_t *data, size_t size,
                               rt_image *image);

#endif /* ADZE_IMAGES_H */
