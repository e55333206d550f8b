// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Recognises a digit that standard input draws: eight lines of eight characters,
// of which spaces are black.
#include "adze.hpp"

#include <algorithm>
#include <iostream>

int main() {
  std::vector<float> image;
  for (std::string line; image.size() < 64 && std::getline(std::cin, line);) {
    line.resize(8, ' ');
    for (char c : line)
      image.push_back(c == ' ' ? 0.0f : 1.0f);
  }
  image.resize(64);
  try {
    adze::Context context = adze::Module::open(MODULE).createContext();
    std::vector<adze::Tensor> outputs =
        context.run({adze::view(image.data(), {1, 1, 8, 8})});
    adze::Span<const float> logits = outputs[0].elements<float>();
    std::cout << "a "
              << std::max_element(logits.begin(), logits.end()) - logits.begin()
              << "\n";
  } catch (const adze::Error &error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
