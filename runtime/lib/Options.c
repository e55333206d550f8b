/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Options of a module.
 */
#include "Runtime.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rt_options_init(adze_options *options) {
  memset(options, 0, sizeof(*options));
  options->spin_us = 100;
  options->verify = RT_VERIFY_ALL;
  options->cuda_graphs = true;
}

adze_status adze_options_create(adze_options **options) {
  if (!options)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected options, but got NULL");
  adze_options *made = malloc(sizeof(*made));
  if (!made)
    return rt_out_of_memory(sizeof(*made));
  rt_options_init(made);
  *options = made;
  return NULL;
}

void adze_options_release(adze_options *options) { free(options); }

static adze_status set_number(const char *key, const char *value, long limit,
                              int32_t *target) {
  char *end;
  errno = 0;
  long number = strtol(value, &end, 10);
  if (end == value || *end || errno || number < 0 || number > limit)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "option '%s': expected a number in [0, %ld], but got '%s'",
                    key, limit, value);
  *target = (int32_t)number;
  return NULL;
}

static adze_status set_flag(const char *key, const char *value, bool *target) {
  bool on = !strcmp(value, "on");
  if (!on && strcmp(value, "off"))
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "option '%s': expected 'on' or 'off', but got '%s'", key,
                    value);
  *target = on;
  return NULL;
}

static adze_status set_verify(const char *value, rt_verify *target) {
  if (!strcmp(value, "all") || !strcmp(value, "on"))
    *target = RT_VERIFY_ALL;
  else if (!strcmp(value, "code"))
    *target = RT_VERIFY_CODE;
  else if (!strcmp(value, "off"))
    *target = RT_VERIFY_OFF;
  else
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "option 'verify': expected 'all', 'code' or 'off', but got "
                    "'%s'",
                    value);
  return NULL;
}

static adze_status set_text(const char *key, const char *value, char *target,
                            size_t size) {
  if (strlen(value) >= size)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "option '%s': expected at most %zu bytes", key, size - 1);
  strcpy(target, value);
  return NULL;
}

adze_status adze_options_set(adze_options *options, const char *key,
                             const char *value) {
  if (!options || !key || !value)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected options, a key and a value, but got NULL");
  if (!strcmp(key, "threads"))
    return set_number(key, value, 1024, &options->threads);
  if (!strcmp(key, "spin_us"))
    return set_number(key, value, 1000000, &options->spin_us);
  if (!strcmp(key, "verify"))
    return set_verify(value, &options->verify);
  if (!strcmp(key, "cuda_graphs"))
    return set_flag(key, value, &options->cuda_graphs);
  if (!strcmp(key, "variant"))
    return set_text(key, value, options->variant, sizeof(options->variant));
  if (!strcmp(key, "weights"))
    return set_text(key, value, options->weights, sizeof(options->weights));
  return rt_error(ADZE_INVALID_ARGUMENT, "unknown option '%s'", key);
}

adze_status adze_options_set_allocator(adze_options *options,
                                       adze_allocate_fn allocate,
                                       adze_deallocate_fn deallocate,
                                       void *user) {
  if (!options || !allocate != !deallocate)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected options and both functions or none");
  options->allocate = allocate;
  options->deallocate = deallocate;
  options->allocator_user = user;
  return NULL;
}

adze_status adze_options_set_parallel_for(adze_options *options,
                                          adze_parallel_for_fn run,
                                          void *user) {
  if (!options)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected options, but got NULL");
  options->parallel_for = run;
  options->parallel_user = user;
  return NULL;
}

adze_status adze_options_set_log(adze_options *options, adze_log_fn log,
                                 void *user) {
  if (!options)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected options, but got NULL");
  options->log = log;
  options->log_user = user;
  return NULL;
}

void rt_log(const adze_options *options, adze_log_level level,
            const char *format, ...) {
  if (!options->log)
    return;
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  options->log(options->log_user, level, message);
}
