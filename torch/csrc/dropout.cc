// Dropout. libtorch draws each element's number from a serial generator, which took a
// tenth of a training step; here one number of that generator is the key of a hash of
// the element's index, which the compiler makes vectors of. On other devices the hash is a
// few operations on tensors, so that its key may be a tensor too, where a step is recorded.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/feature_dropout.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "guard.h"
#include "random.h"

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
  if (Random* random = drawing()) return random->next();
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  std::lock_guard<std::mutex> lock(generator.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(generator)->random64();
}

// An index of 32 bits counts the elements, and the mask is filled in memory's order.
bool fits(const at::Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble) &&
         x.is_non_overlapping_and_dense() && x.numel() <= INT64_C(0xffffffff);
}

// hashed_mask is the mask of elements of that shape by operations on tensors: 64 bits of the
// index and the key, multiplied twice by odd numbers (those of SplitMix64) with its upper
// half laid over its lower one in between, stay where they are not below the threshold.
at::Tensor hashed_mask(at::IntArrayRef shape, const at::TensorOptions& like, double probability, Random& random) {
  constexpr auto odd = static_cast<int64_t>(UINT64_C(0x9e3779b97f4a7c15)), other = static_cast<int64_t>(UINT64_C(0xbf58476d1ce4e5b9));
  uint64_t key;
  if (random.seeded) {
    constexpr uint64_t apart = UINT64_C(0x94d049bb133111eb);  // from draw to draw
    key = static_cast<uint64_t>(random.seed) + static_cast<uint64_t>(random.draws++) * apart;
  } else {
    key = random.next();
  }
  at::Tensor bits = at::arange(c10::multiply_integers(shape), like.dtype(at::kLong)).add_(static_cast<int64_t>(key));
  if (random.recorded.defined()) bits.add_(random.recorded);
  bits.mul_(odd);
  bits.bitwise_xor_(bits.bitwise_right_shift(32)).mul_(other);
  const auto threshold = static_cast<int64_t>(std::ldexp(probability - 0.5, 64));  // of what is signed
  return bits.ge_(threshold).to(like).mul_(1 / (1 - probability)).view(shape);
}

at::Tensor mask_of(const at::Tensor& x, double probability) {
  Random* random = drawing();
  if (random != nullptr && (random->seeded || !fits(x))) return hashed_mask(x.sizes(), x.options(), probability, *random);
  at::Tensor mask = at::empty_like(x);
  const uint64_t key = next_key();
  if (x.scalar_type() == at::kFloat) {
    fill(mask.data_ptr<float>(), mask.numel(), probability, key);
  } else {
    fill(mask.data_ptr<double>(), mask.numel(), probability, key);
  }
  return mask;
}

struct Dropout : torch::autograd::Function<Dropout> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, double probability) {
    const at::Tensor mask = mask_of(x, probability);
    context->save_for_backward({mask});
    return x.mul(mask);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {gradients[0].mul(context->get_saved_variables()[0]), at::Tensor()};
  }
};

bool draws(double probability) { return probability > 0 && probability < 1; }

}  // namespace

iwt_result iwt_dropout(void* a, double probability) {
  return produce([&] {
    const at::Tensor& x = tensor(a);
    const bool ours = draws(probability) && (drawing() != nullptr || fits(x));
    return ours ? Dropout::apply(x, probability) : at::dropout(x, probability, true);
  });
}

iwt_result iwt_dropout2d(void* a, double probability) {
  return produce([&] {
    const at::Tensor& x = tensor(a);
    Random* random = drawing();
    if (random == nullptr || !draws(probability) || x.dim() < 2) return at::feature_dropout(x, probability, true);
    std::vector<int64_t> channels(x.dim(), 1);
    std::copy_n(x.sizes().begin(), 2, channels.begin());
    if (random->seeded || !x.is_cpu()) return x.mul(hashed_mask(channels, x.options(), probability, *random));
    return x.mul(at::empty(channels, x.options()).bernoulli_(1 - probability, random->engine).div_(1 - probability));
  });
}
