/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Growing text buffers, and JSON strings.
 * */
#include "Runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool reserve(rt_text *text, size_t more) {
  if (text->failed)
    return false;
  if (text->size + more + 1 <= text->capacity)
    return true;
  size_t capacity = (text->size + more + 1) * 2;
  char *data = realloc(text->data, capacity);
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = capacity;
  return true;
}

void rt_text_add(rt_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length >= 0 && reserve(text, (size_t)length)) {
    vsnprintf(text->data + text->size, (size_t)length + 1, format, again);
    text->size += (size_t)length;
  }
  va_end(again);
}

void rt_text_add_json(rt_text *text, const char *string) {
  rt_text_add(text, "\"");
  for (const char *at = string ? string : ""; *at; ++at) {
    unsigned char byte = (unsigned char)*at;
    if (byte == '"' || byte == '\\')
      rt_text_add(text, "\\%c", byte);
    else if (byte < 0x20)
      rt_text_add(text, "\\u%04x", byte);
    else
      rt_text_add(text, "%c", byte);
  }
  rt_text_add(text, "\"");
}

void rt_text_free(rt_text *text) {
  free(text->data);
  rt_text empty = {0};
  *text = empty;
}
