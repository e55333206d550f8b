// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Generation of tokens by a decoder model.

#include "Generate.h"

#include "Bench.h"
#include "adze_generate.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace adze::run {

namespace {
/// The result of a prompt.
struct Continuation {
  std::vector<int64_t> tokens;
  std::vector<float> logprobs;
  adze_event end = ADZE_FAILED;
};

struct Release {
  void operator()(adze_generator *generator) const {
    adze_generator_release(generator);
  }
};
using GeneratorHandle = std::unique_ptr<adze_generator, Release>;

/// Times of the steps until all prompts have their first token, and of later
/// steps.
struct Rates {
  size_t promptTokens = 0, decodedTokens = 0;
  double promptMs = 0, decodeMs = 0;
};
} // namespace

static int takeEvent(void *user, adze_sequence *, adze_event event,
                     int64_t token, float logprob) {
  auto &continuation = *static_cast<Continuation *>(user);
  continuation.end = event;
  if (event == ADZE_TOKEN) {
    continuation.tokens.push_back(token);
    continuation.logprobs.push_back(logprob);
  }
  return 0;
}

/// Adds the prompts of a file: a vector of integers, or a matrix with one
/// prompt per row.
static Error readPrompts(const std::string &path,
                         std::vector<std::vector<int64_t>> &prompts) {
  Bytes file;
  Tensor tensor;
  RUN_TRY(readBytes(path, file));
  if (Error error = readNpy(file, tensor); !error.empty())
    return path + ": " + error;
  bool isWide = tensor.dtype.bits == 64;
  size_t rank = tensor.dims.size();
  if (tensor.dtype.code != kDLInt || (!isWide && tensor.dtype.bits != 32) ||
      rank < 1 || rank > 2 || !tensor.elements())
    return path +
           ": expected token ids, int32 or int64 of one or two dims, "
           "but got " +
           typeName(tensor.dtype) + " " + shapeText(tensor.dims);
  const char *data = tensor.bytes.data();
  auto length = static_cast<size_t>(tensor.dims.back());
  for (int64_t row = 0; row < tensor.elements() / tensor.dims.back(); ++row) {
    std::vector<int64_t> &ids = prompts.emplace_back(length);
    for (int64_t &id : ids) {
      int32_t narrow;
      std::memcpy(isWide ? static_cast<void *>(&id) : &narrow, data,
                  isWide ? sizeof(id) : sizeof(narrow));
      if (!isWide)
        id = narrow;
      data += isWide ? sizeof(id) : sizeof(narrow);
    }
  }
  return {};
}

static Error createGenerator(const Session &session,
                             const Arguments &arguments,
                             GeneratorHandle &generator) {
  const Generation &generation = arguments.generation;
  size_t longest = 0;
  for (const std::vector<int64_t> &prompt : generation.prompts)
    longest = std::max(longest, prompt.size());
  adze_generator_options options = {};
  options.size = sizeof(options);
  options.rows = static_cast<int64_t>(longest) + generation.maxTokens;
  options.batch = static_cast<int64_t>(generation.prompts.size());
  options.device = arguments.device;
  adze_generator *made = nullptr;
  Error error =
      take(adze_generator_create(session.getModule(), &options, &made));
  generator.reset(made);
  return error;
}

static Error addSequences(adze_generator *generator, const Arguments &arguments,
                          std::vector<Continuation> &continuations) {
  const Generation &generation = arguments.generation;
  std::vector<const int64_t *> stops;
  std::vector<size_t> lengths;
  for (const std::vector<int64_t> &stop : generation.stops) {
    stops.push_back(stop.data());
    lengths.push_back(stop.size());
  }
  adze_sampling sampling = {};
  sampling.size = sizeof(sampling);
  sampling.temperature = static_cast<float>(generation.temperature);
  sampling.top_k = static_cast<int32_t>(generation.topK);
  sampling.top_p = static_cast<float>(generation.topP);
  sampling.min_p = static_cast<float>(generation.minP);
  sampling.repetition_penalty =
      static_cast<float>(generation.repetitionPenalty);
  sampling.max_tokens = generation.maxTokens;
  sampling.stops = stops.data();
  sampling.stop_lengths = lengths.data();
  sampling.num_stops = stops.size();
  for (size_t i = 0; i < generation.prompts.size(); ++i) {
    const std::vector<int64_t> &prompt = generation.prompts[i];
    sampling.seed = static_cast<uint64_t>(arguments.seed) + i;
    adze_sequence *sequence;
    RUN_TRY(take(adze_sequence_create(
        generator, &sampling, prompt.data(), prompt.size(), nullptr, nullptr, 0,
        takeEvent, &continuations[i], &sequence)));
  }
  return {};
}

static size_t countTokens(const std::vector<Continuation> &continuations,
                          bool &allBegan) {
  size_t count = 0;
  allBegan = true;
  for (const Continuation &continuation : continuations) {
    count += continuation.tokens.size();
    allBegan &= !continuation.tokens.empty();
  }
  return count;
}

static Error runSteps(adze_generator *generator,
                      const std::vector<Continuation> &continuations,
                      Rates &rates) {
  int32_t active = 0;
  bool allBegan = false;
  size_t begun = 0;
  double begin = nowMs(), middle = begin;
  do {
    RUN_TRY(take(adze_generator_step(generator, &active)));
    if (!allBegan) {
      begun = countTokens(continuations, allBegan);
      middle = nowMs();
    }
  } while (active);
  rates.promptMs = middle - begin;
  rates.decodeMs = nowMs() - middle;
  rates.decodedTokens = countTokens(continuations, allBegan) - begun;
  return {};
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

template <typename T>
static std::string join(const std::vector<T> &values, const char *between,
                        const char *format) {
  std::string text;
  for (T value : values) {
    char number[32];
    std::snprintf(number, sizeof(number), format, value);
    text += (text.empty() ? "" : between) + std::string(number);
  }
  return text;
}

static double perSecond(size_t tokens, double ms) {
  return ms > 0 ? static_cast<double>(tokens) / ms * 1e3 : 0;
}

static std::string formatText(const std::vector<Continuation> &continuations,
                              const Rates &rates, const Session &session) {
  std::string text;
  for (const Continuation &continuation : continuations)
    text += join(continuation.tokens, " ", "%ld") + "\n";
  char line[256];
  std::snprintf(line, sizeof(line),
                "prompt: %zu tokens, %.4g ms, %.4g tokens/s\n"
                "decoding: %zu tokens, %.4g ms, %.4g tokens/s\n"
                "load %.3g ms\n",
                rates.promptTokens, rates.promptMs,
                perSecond(rates.promptTokens, rates.promptMs),
                rates.decodedTokens, rates.decodeMs,
                perSecond(rates.decodedTokens, rates.decodeMs),
                session.getLoadMs());
  return text + line;
}

static std::string formatJson(const std::vector<Continuation> &continuations,
                              const Rates &rates, const Session &session,
                              const Arguments &arguments) {
  std::string text = "{\"sequences\": [";
  for (const Continuation &continuation : continuations) {
    auto most = static_cast<size_t>(arguments.generation.maxTokens);
    text += std::string(&continuation == continuations.data() ? "" : ", ") +
            "{\"tokens\": [" + join(continuation.tokens, ", ", "%ld") +
            "], \"logprobs\": [" + join(continuation.logprobs, ", ", "%.6g") +
            "], \"end\": \"" +
            (continuation.tokens.size() < most ? "stop" : "length") + "\"}";
  }
  char figures[512];
  std::snprintf(figures, sizeof(figures),
                "], \"prompt_tokens\": %zu, \"prompt_ms\": %.6g, "
                "\"prompt_tokens_per_second\": %.6g, \"decoded_tokens\": %zu, "
                "\"decode_ms\": %.6g, \"decoded_tokens_per_second\": %.6g, "
                "\"load_ms\": %.6g, \"device\": \"%s\", \"threads\": %d}\n",
                rates.promptTokens, rates.promptMs,
                perSecond(rates.promptTokens, rates.promptMs),
                rates.decodedTokens, rates.decodeMs,
                perSecond(rates.decodedTokens, rates.decodeMs),
                session.getLoadMs(), arguments.deviceText.c_str(),
                threadsOf(arguments));
  return text + figures;
}

Error generate(const Session &session, Arguments arguments, std::string &text) {
  Generation &generation = arguments.generation;
  for (const std::string &path : generation.promptFiles)
    RUN_TRY(readPrompts(path, generation.prompts));
  GeneratorHandle generator;
  std::vector<Continuation> continuations(generation.prompts.size());
  Rates rates;
  for (const std::vector<int64_t> &prompt : generation.prompts)
    rates.promptTokens += prompt.size();
  Error error = createGenerator(session, arguments, generator);
  if (error.empty())
    error = addSequences(generator.get(), arguments, continuations);
  if (error.empty())
    error = runSteps(generator.get(), continuations, rates);
  if (!error.empty())
    return arguments.module + ": " + error;
  text = arguments.json ? formatJson(continuations, rates, session, arguments)
                        : formatText(continuations, rates, session);
  return {};
}

} // namespace adze::run
