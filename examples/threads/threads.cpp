// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Several threads run one module on batches of different sizes. Each has its own
// context; weights are shared.
//
//   threads MODULE.so NUM_THREADS
#include "adze.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

constexpr int64_t kPixels = 8 * 8, kClasses = 10;

/// Runs batches of 1, 2, .. images and returns the number of images, or -1 if the
/// result of an image depends on its batch.
int64_t work(adze::Context context, int64_t batches) {
  int64_t images = 0;
  std::vector<float> first;
  for (int64_t batch = 1; batch <= batches; ++batch) {
    std::vector<float> pixels(size_t(batch * kPixels), 1.0f);
    std::vector<float> logits(size_t(batch * kClasses));
    context.run({adze::view(pixels.data(), {batch, 1, 8, 8})},
                {adze::view(logits.data(), {batch, kClasses})});
    images += batch;
    if (first.empty())
      first.assign(logits.begin(), logits.begin() + kClasses);
    for (int64_t i = 0; i < batch; ++i)
      if (!std::equal(first.begin(), first.end(),
                      logits.begin() + i * kClasses))
        return -1;
  }
  return images;
}

} // namespace

int main(int argc, char **argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: threads MODULE.so NUM_THREADS\n");
    return 2;
  }
  // The program has enough threads: a run needs no additional ones.
  adze::Module module =
      adze::Module::open(argv[1], adze::Options().setThreads(1));
  for (const adze::ValueInfo &input : module.inputs())
    std::printf("input '%s': dimension 0 is '%s'\n", input.name.c_str(),
                input.symbols[0].c_str());

  adze::Context context = module.createContext();
  std::vector<std::thread> threads;
  std::vector<int64_t> images(size_t(std::atoi(argv[2])));
  for (int64_t &count : images)
    threads.emplace_back([&count, own = context.clone()]() mutable {
      count = work(std::move(own), 32);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < images.size(); ++i)
    std::printf("thread %zu: %lld images\n", i, (long long)images[i]);

  // An invalid call throws an exception with the name of the input.
  const float pixel = 0;
  context.run({adze::view(&pixel, {1, 1, 1, 1})});
  return 1;
} catch (const adze::Error &error) {
  std::printf("%s\n", error.what());
  return error.code() == ADZE_INVALID_ARGUMENT ? 0 : 1;
}
