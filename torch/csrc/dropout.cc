// Dropout. libtorch draws each element's number from a serial generator, which took a
// tenth of a training step; here one number of that generator is the key of a hash of
// the element's index, which the compiler makes vectors of.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <mutex>

#include "guard.h"

using namespace iwt;

namespace {

// scramble is a bijection of 32 bits in which each bit of x changes half of the
// others (the constants are those of Ellis's hash-prospector search, bias 0.17).
inline uint32_t scramble(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}

// draw tells for count elements from the first on whether they stay: 1, or 0 for those
// whose number is below the threshold.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void draw(int32_t* stay, uint32_t first, uint32_t count, uint64_t key, uint32_t threshold) {
  const uint32_t low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  for (uint32_t i = 0; i < count; i++) stay[i] = scramble(scramble(first + i + low) ^ high) >= threshold;
}

template <class T>
void scale(T* mask, const int32_t* stay, int64_t count, T kept) {
  for (int64_t i = 0; i < count; i++) mask[i] = kept * static_cast<T>(stay[i]);
}

template <class T>
void fill(T* mask, int64_t size, double probability, uint64_t key) {
  const uint32_t threshold = static_cast<uint32_t>(std::min(probability * 4294967296.0, 4294967295.0));
  const T kept = static_cast<T>(1 / (1 - probability));
  constexpr int64_t grain = 1 << 15, block = 1024;
  at::parallel_for(0, size, grain, [&](int64_t begin, int64_t end) {
    int32_t stay[block];
    for (int64_t i = begin; i < end; i += block) {
      const int64_t count = std::min(block, end - i);
      draw(stay, static_cast<uint32_t>(i), static_cast<uint32_t>(count), key, threshold);
      scale(mask + i, stay, count, kept);
    }
  });
}

uint64_t next_key() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  std::lock_guard<std::mutex> lock(generator.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(generator)->random64();
}

struct Dropout : torch::autograd::Function<Dropout> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, double probability) {
    const at::Tensor mask = at::empty_like(x);
    const uint64_t key = next_key();
    if (x.scalar_type() == at::kFloat) {
      fill(mask.data_ptr<float>(), mask.numel(), probability, key);
    } else {
      fill(mask.data_ptr<double>(), mask.numel(), probability, key);
    }
    context->save_for_backward({mask});
    return x.mul(mask);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {gradients[0].mul(context->get_saved_variables()[0]), at::Tensor()};
  }
};

// An index of 32 bits counts the elements, and the mask is filled in memory's order.
bool fits(const at::Tensor& x, double probability) {
  return x.is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble) &&
         x.is_non_overlapping_and_dense() && x.numel() <= INT64_C(0xffffffff) && probability > 0 && probability < 1;
}

}  // namespace

iwt_result iwt_dropout(void* a, double probability) {
  return produce([&] {
    const at::Tensor& x = tensor(a);
    return fits(x, probability) ? Dropout::apply(x, probability) : at::dropout(x, probability, true);
  });
}
