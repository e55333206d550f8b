/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Profiles: one event per launch, written as a Chrome trace.
 * */
#include "Runtime.h"

#include <stdlib.h>
#include <string.h>

static int64_t value_of(adze_formula_fn formula, const int64_t *symbols) {
  return formula ? formula(symbols) : -1;
}

static void add(adze_context *context, rt_event event) {
  rt_profile *profile = &context->profile;
  if (profile->count == profile->capacity) {
    size_t capacity = profile->capacity ? profile->capacity * 2 : 256;
    rt_event *events =
        realloc(profile->events, capacity * sizeof(*profile->events));
    if (!events) {
      profile->failed = true;
      return;
    }
    profile->events = events;
    profile->capacity = capacity;
  }
  profile->events[profile->count++] = event;
}

void rt_profile_add(adze_context *context, uint32_t kernel, double begin,
                    double duration, int64_t programs, int32_t lanes) {
  rt_event event = {.begin_us = begin,
                    .duration_us = duration,
                    .kernel = kernel,
                    .lanes = lanes,
                    .programs = programs,
                    .flops = -1,
                    .bytes_read = -1,
                    .bytes_written = -1};
  if (kernel != RT_WHOLE_RUN) {
    const adze_module_kernel *info = &context->module->desc->kernels[kernel];
    event.flops = value_of(info->flops, context->symbols);
    event.bytes_read = value_of(info->bytes_read, context->symbols);
    event.bytes_written = value_of(info->bytes_written, context->symbols);
  }
  add(context, event);
}

void rt_profile_add_copy(adze_context *context, uint32_t state, double begin,
                         double duration, int64_t bytes, int32_t lanes) {
  add(context, (rt_event){.begin_us = begin,
                          .duration_us = duration,
                          .kernel = RT_COPY,
                          .state = state,
                          .lanes = lanes,
                          .programs = -1,
                          .flops = -1,
                          .bytes_read = bytes,
                          .bytes_written = bytes});
}

void rt_profile_free(rt_profile *profile) {
  free(profile->events);
  free(profile->json);
  memset(profile, 0, sizeof(*profile));
}

/* Appends "a\nb" as ["a", "b"]. */
static void add_nodes(rt_text *text, const char *nodes) {
  rt_text_add(text, "[");
  char *copy = strdup(nodes ? nodes : "");
  char *rest = copy, *name;
  const char *separator = "";
  while (rest && (name = strsep(&rest, "\n"))) {
    if (!*name)
      continue;
    rt_text_add(text, "%s", separator);
    rt_text_add_json(text, name);
    separator = ", ";
  }
  text->failed |= !copy;
  free(copy);
  rt_text_add(text, "]");
}

static void add_number(rt_text *text, const char *key, int64_t value) {
  if (value >= 0)
    rt_text_add(text, ", \"%s\": %lld", key, (long long)value);
}

static void add_event(rt_text *text, const adze_context *context,
                      const rt_event *event, double origin) {
  const adze_module_desc *desc = context->module->desc;
  bool whole = event->kernel == RT_WHOLE_RUN, copy = event->kernel == RT_COPY;
  const adze_module_kernel *kernel =
      whole || copy ? NULL : &desc->kernels[event->kernel];
  const char *name = whole ? desc->model_name
                     : copy
                         ? desc->inputs[desc->states[event->state].input].name
                         : kernel->name;
  rt_text_add(text,
              "{\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"cat\": \"%s\", "
              "\"name\": ",
              whole  ? "run"
              : copy ? "copy"
                     : "kernel");
  rt_text_add_json(text, name);
  rt_text_add(text, ", \"ts\": %.3f, \"dur\": %.3f, \"args\": {\"device\": ",
              event->begin_us - origin, event->duration_us);
  /* Kernels that are not in the device's image run on the CPU. */
  bool on_cpu = context->device.device_type == kDLCPU;
  if (on_cpu || (!whole && event->lanes > 0))
    rt_text_add(text, "\"cpu\"");
  else
    rt_text_add(text, "\"cuda:%d\"", context->device.device_id);
  if (kernel) {
    rt_text_add(text, ", \"kernel\": ");
    rt_text_add_json(text, kernel->name);
    rt_text_add(text, ", \"nodes\": ");
    add_nodes(text, kernel->nodes);
  }
  if (!whole) {
    add_number(text, "programs", event->programs);
    add_number(text, "flops", event->flops);
    add_number(text, "bytes_read", event->bytes_read);
    add_number(text, "bytes_written", event->bytes_written);
    if (event->bytes_read >= 0 && event->bytes_written >= 0)
      add_number(text, "bytes", event->bytes_read + event->bytes_written);
  }
  add_number(text, "threads", event->lanes);
  rt_text_add(text, "}}");
}

adze_status adze_profile_begin(adze_context *context) {
  RT_TRY(rt_context_enter(context));
  rt_profile_free(&context->profile);
  context->profile.on = true;
  rt_context_leave(context);
  return NULL;
}

static adze_status write_trace(adze_context *context) {
  rt_profile *profile = &context->profile;
  rt_text text = {0};
  double origin = profile->count ? profile->events[0].begin_us : 0;
  /* The event of a whole run is recorded after its launches, but began before
     them. */
  for (size_t i = 0; i < profile->count; ++i)
    if (profile->events[i].begin_us < origin)
      origin = profile->events[i].begin_us;
  rt_text_add(&text, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
                     "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", "
                     "\"args\": {\"name\": ");
  rt_text_add_json(&text, context->module->desc->model_name);
  rt_text_add(&text, "}}");
  for (size_t i = 0; i < profile->count; ++i) {
    rt_text_add(&text, ",\n");
    add_event(&text, context, &profile->events[i], origin);
  }
  rt_text_add(&text, "\n]}\n");
  if (text.failed || profile->failed) {
    rt_text_free(&text);
    return rt_error(ADZE_OUT_OF_MEMORY, "out of memory for the profile");
  }
  profile->json = text.data;
  return NULL;
}

adze_status adze_profile_end(adze_context *context, const char **json) {
  if (!json)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a pointer to the trace, but got NULL");
  RT_TRY(rt_context_enter(context));
  adze_status status = NULL;
  if (!context->profile.on)
    status = rt_error(ADZE_INVALID_ARGUMENT, "no profile has been begun");
  else
    status = write_trace(context);
  context->profile.on = false;
  if (!status)
    *json = context->profile.json;
  rt_context_leave(context);
  return status;
}
