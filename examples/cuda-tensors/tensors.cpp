// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Steps of a model whose state stays on the device: sum = x + 2 y, ten times.
#include <adze.hpp>
#include <cstdio>
#include <vector>

static void runSteps(const char *path, int steps) {
  adze::Module module = adze::Module::open(path);
  adze::Context context = module.createContext(adze::cuda());
  const adze::Shape shape = {2, 4};
  const std::vector<float> x(8, 1.0f), y(8, 1.0f);

  // Inputs in host memory are copied to the device. Without buffers for the
  // outputs, the run allocates them on the device.
  std::vector<adze::Tensor> state =
      context.run({adze::view(x.data(), shape), adze::view(y.data(), shape)});
  // Tensors on the device are not copied: the first output of a run is the first
  // input of the next one.
  for (int step = 2; step < steps; ++step)
    state = context.run({state[0], adze::view(y.data(), shape)});
  std::printf("the state is on cuda:%d\n", state[0].device().device_id);

  // A run copies to outputs in host memory.
  std::vector<std::vector<float>> results;
  std::vector<adze::View> outputs;
  for (const adze::Shape &output : module.inferShapes({shape, shape})) {
    results.emplace_back(adze::numElements(output));
    outputs.push_back(adze::view(results.back().data(), output));
  }
  context.run({state[0], adze::view(y.data(), shape)}, outputs);
  std::printf("after %d steps: sum %g, total %g\n", steps, results[0][0],
              results[1][0]);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tensors MODULE.so\n");
    return 2;
  }
  try {
    runSteps(argv[1], 10);
  } catch (const adze::Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
