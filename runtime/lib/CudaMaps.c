/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Tensor maps of launches. The driver takes time to encode a map, so encoded
 * maps are cached until their slot is needed for another one.
 * */
#include "CudaDriver.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 256u /* a power of two */

typedef struct {
  const adze_tensor_map *row; /* null: the slot is free */
  void *address;
  int64_t values[ADZE_TENSOR_MAP_VALUES];
  rt_tensor_map map;
} slot;

struct rt_map_cache {
  slot slots[SLOTS];
};

static const adze_tensor_map *row_of(const adze_device_kernel *kernel,
                                     uint32_t number) {
  return (const adze_tensor_map *)((const char *)kernel->maps +
                                   (size_t)number * kernel->map_size);
}

adze_status rt_maps_check(const adze_module *module, const rt_device *device,
                          uint32_t kernel) {
  const adze_device_kernel *code = &device->image->kernels[kernel];
  if (!device->cu->encode_tensor_map)
    return rt_error(ADZE_UNSUPPORTED,
                    "kernel '%s' copies by tensor maps, which this CUDA driver "
                    "does not have; expected one of CUDA 12 or later",
                    module->desc->kernels[kernel].name);
  bool good = code->num_maps <= RT_MOST_MAPS && code->maps &&
              code->map_values && code->map_size >= sizeof(adze_tensor_map);
  for (uint32_t i = 0; good && i < code->num_maps; ++i) {
    const adze_tensor_map *row = row_of(code, i);
    good = row->rank >= 1 && row->rank <= ADZE_TENSOR_MAP_RANK &&
           row->pointer < module->desc->kernels[kernel].num_ptrs;
  }
  return good
             ? NULL
             : rt_error(ADZE_INVALID_MODULE, "damaged descriptor: tensor maps");
}

adze_status rt_maps_create(rt_device_context *state) {
  size_t bytes = sizeof(rt_map_cache);
  state->maps = aligned_alloc(_Alignof(rt_map_cache), bytes);
  if (!state->maps)
    return rt_out_of_memory(bytes);
  memset(state->maps, 0, bytes);
  return NULL;
}

static adze_status encode(adze_context *context, uint32_t kernel, slot *to) {
  enum { NO_INTERLEAVE = 0, PROMOTE_TO_128_BYTES = 2, FILL_ZEROS = 0 };
  const adze_tensor_map *row = to->row;
  uint64_t sizes[ADZE_TENSOR_MAP_RANK], strides[ADZE_TENSOR_MAP_RANK];
  uint32_t box[ADZE_TENSOR_MAP_RANK];
  for (uint32_t i = 0; i < row->rank; ++i) {
    /* A dim without elements gets size 1, since nothing is copied along it. */
    int64_t size = to->values[i];
    sizes[i] = size > 0 ? (uint64_t)size : 1;
    /* The driver's boxes include elements that steps skip. */
    box[i] = (row->box[i] - 1) * row->steps[i] + 1;
  }
  for (uint32_t i = 0; i + 1 < row->rank; ++i) {
    int64_t stride = to->values[ADZE_TENSOR_MAP_RANK + i];
    strides[i] = stride > 0 ? (uint64_t)stride : row->row_bytes;
  }
  int swizzle = row->row_bytes == 128 ? 3 : row->row_bytes == 64 ? 2 : 1;
  const cu_driver *cu = context->on_device->device->cu;
  cu_result result = cu->encode_tensor_map(
      to->map.bytes, (int)row->type, row->rank, to->address, sizes, strides,
      box, row->steps, NO_INTERLEAVE, swizzle, PROMOTE_TO_128_BYTES,
      FILL_ZEROS);
  if (!result)
    return NULL;
  to->row = NULL;
  return rt_error(ADZE_DEVICE_ERROR,
                  "kernel '%s': no tensor map of tensor %u at %p (CUDA error "
                  "%d)",
                  context->module->desc->kernels[kernel].name, row->pointer,
                  to->address, (int)result);
}

static slot *find_slot(rt_map_cache *cache, const adze_tensor_map *row,
                       const void *address) {
  uint64_t key = ((uintptr_t)row / sizeof(*row)) * 31 + (uintptr_t)address / 64;
  key *= 0x9E3779B97F4A7C15ull;
  return &cache->slots[key >> 32 & (SLOTS - 1)];
}

adze_status rt_maps_fill(adze_context *context, uint32_t kernel,
                         void *const *ptrs, const int64_t *symbols,
                         rt_tensor_map *maps) {
  rt_device_context *state = context->on_device;
  const adze_device_kernel *code = &state->device->image->kernels[kernel];
  int64_t values[RT_MOST_MAPS * ADZE_TENSOR_MAP_VALUES] = {0};
  code->map_values(symbols, values);
  for (uint32_t i = 0; i < code->num_maps; ++i) {
    const adze_tensor_map *row = row_of(code, i);
    const int64_t *own = values + (size_t)i * ADZE_TENSOR_MAP_VALUES;
    void *address = ptrs[row->pointer];
    slot *found = find_slot(state->maps, row, address);
    if (found->row != row || found->address != address ||
        memcmp(found->values, own, sizeof(found->values)) != 0) {
      found->row = row;
      found->address = address;
      memcpy(found->values, own, sizeof(found->values));
      RT_TRY(encode(context, kernel, found));
    }
    maps[i] = found->map;
  }
  return NULL;
}
