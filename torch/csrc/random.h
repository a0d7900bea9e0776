// Random numbers that do not come from libtorch's own generators, of which a process has one
// for each device: several that train in it would each depend on what the others draw.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <mutex>
#include <utility>

namespace iwt {

// Random is what one training run draws from.
struct Random {
  explicit Random(at::Generator generator) : engine(std::move(generator)) {}

  at::Generator engine;  // of the CPU's kind
  // Whether dropout follows from a seed instead: a number, or, where work is recorded, a scalar
  // of int64 on the device, which holds another one whenever the work is repeated. What is
  // drawn also depends on how many draws there were since the seed was set.
  bool seeded = false;
  int64_t seed = 0;
  at::Tensor recorded;
  int64_t draws = 0;

  // next is a number of 64 bits of the engine.
  uint64_t next();
};

// drawing is what this thread draws from, nullptr for libtorch's own generators.
Random* drawing() noexcept;

// Lending gives libtorch's generator of the CPU the state of a source, as long as it lives: for
// code that draws from no other. Only one thread can at a time.
class Lending {
 public:
  explicit Lending(Random& random);
  ~Lending();
  Lending(const Lending&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  Random& random_;
  at::Tensor before_;
};

}  // namespace iwt
