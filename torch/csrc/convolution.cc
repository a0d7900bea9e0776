// Convolution, 2×2 maximum and rectification in one operation, for networks of small
// images. The samples of a batch are the lanes of the vectors: tensors are in blocks of
// 16 samples, (blocks × channels × height × width × 16), so that no channel count leaves
// lanes empty, every load is whole and a block's images stay in a core's cache. The
// convolution's output is pooled in registers and never written.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "guard.h"

using namespace iwt;

namespace {

constexpr int64_t block = 16;

// Shape are the sizes of one operation; pixels count 16 numbers each, a block's.
struct Shape {
  int64_t blocks, in, height, width, out, kernel;

  int64_t convolved_height() const { return height - kernel + 1; }
  int64_t convolved_width() const { return width - kernel + 1; }
  int64_t pooled_height() const { return convolved_height() / 2; }
  int64_t pooled_width() const { return convolved_width() / 2; }
  int64_t spread_width() const { return convolved_width() + 2; }
  int64_t taps() const { return in * kernel * kernel; }  // weights of one output channel

  // Numbers in one channel of one block.
  int64_t plane() const { return height * width * block; }
  int64_t pooled_plane() const { return pooled_height() * pooled_width() * block; }
  int64_t spread_plane() const { return convolved_height() * spread_width() * block; }
};

// Kernels are the loops for one instruction set. The tiles are numbers of channels that
// are computed at once; packed weights have the first two's side by side.
template <class T>
struct Kernels {
  int64_t forward_tile, input_tile, weight_tile, lanes;
  void (*forward)(const Shape&, const T* x, const T* weight, const T* bias, T* out, uint8_t* choice);
  void (*expand)(const Shape&, int64_t channels, const T* gradient, const uint8_t* choice, T* spread, T* bias_gradient);
  void (*input_gradient)(const Shape&, const T* spread, const T* weight, T* gradient);
  void (*weight_gradient)(const Shape&, int64_t channels, const T* spread, const T* x, T* gradient, T* scratch);
};

namespace portable {
#define VECTOR_BYTES 16
#define FORWARD_TILE 2
#define INPUT_TILE 4
#define WEIGHT_TILE 2
#include "convolution_kernels.h"
}  // namespace portable

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define IWT_INSTRUCTION_SETS
#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
#define VECTOR_BYTES 32
#define FORWARD_TILE 2
#define INPUT_TILE 5
#define WEIGHT_TILE 2
#include "convolution_kernels.h"
}  // namespace avx2
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma")
namespace avx512 {
#define VECTOR_BYTES 64
#define FORWARD_TILE 5
#define INPUT_TILE 10
#define WEIGHT_TILE 4
#include "convolution_kernels.h"
}  // namespace avx512
#pragma GCC pop_options
#endif

// choose takes the widest instructions that the processor has and libtorch's variable
// ATEN_CPU_CAPABILITY allows.
template <class T>
const Kernels<T>& choose() {
#ifdef IWT_INSTRUCTION_SETS
  const char* variable = std::getenv("ATEN_CPU_CAPABILITY");
  const std::string limit = variable == nullptr ? "" : variable;
  if (limit != "default") {
    if (limit != "avx2" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      return avx512::kernels<T>;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::kernels<T>;
  }
#endif
  return portable::kernels<T>;
}

template <class T>
const Kernels<T>& kernels() {
  static const Kernels<T>& chosen = choose<T>();
  return chosen;
}

// packed returns weights, (outer × inner × taps), with tiles of the outer channels side
// by side: (tile × inner × taps × channel of the tile).
template <class T>
std::vector<T> packed(const T* weight, int64_t outer, int64_t inner, int64_t taps, int64_t outer_stride,
                      int64_t inner_stride, int64_t tile) {
  std::vector<T> result(outer * inner * taps);
  T* to = result.data();
  for (int64_t first = 0; first < outer; first += tile)
    for (int64_t i = 0; i < inner; i++)
      for (int64_t tap = 0; tap < taps; tap++)
        for (int64_t o = first; o < std::min(first + tile, outer); o++)
          *to++ = weight[o * outer_stride + i * inner_stride + tap];
  return result;
}

Shape shape(const at::Tensor& x, const at::Tensor& weight) {
  return {x.size(0), x.size(1), x.size(2), x.size(3), weight.size(0), weight.size(2)};
}

template <class T>
void forward(const Shape& s, const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
             const at::Tensor& out, const at::Tensor& choice) {
  const Kernels<T>& k = kernels<T>();
  const int64_t taps = s.kernel * s.kernel;
  const std::vector<T> w = packed(weight.data_ptr<T>(), s.out, s.in, taps, s.taps(), taps, k.forward_tile);
  const T *from = x.data_ptr<T>(), *b = bias.data_ptr<T>();
  T* to = out.data_ptr<T>();
  uint8_t* chosen = choice.data_ptr<uint8_t>();
  at::parallel_for(0, s.blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const int64_t offset = i * s.out * s.pooled_plane();
      k.forward(s, from + i * s.in * s.plane(), w.data(), b, to + offset, chosen + offset);
    }
  });
}

template <class T>
void input_gradient(const Shape& s, const at::Tensor& gradient, const at::Tensor& choice, const at::Tensor& weight,
                    const at::Tensor& result) {
  const Kernels<T>& k = kernels<T>();
  const int64_t taps = s.kernel * s.kernel;
  const std::vector<T> w = packed(weight.data_ptr<T>(), s.in, s.out, taps, taps, s.taps(), k.input_tile);
  const T* from = gradient.data_ptr<T>();
  const uint8_t* chosen = choice.data_ptr<uint8_t>();
  T* to = result.data_ptr<T>();
  at::parallel_for(0, s.blocks, 1, [&](int64_t begin, int64_t end) {
    const at::Tensor spread = at::zeros({s.out * s.spread_plane()}, gradient.options());
    std::vector<T> ignored(s.out);
    for (int64_t i = begin; i < end; i++) {
      const int64_t offset = i * s.out * s.pooled_plane();
      k.expand(s, s.out, from + offset, chosen + offset, spread.data_ptr<T>(), ignored.data());
      k.input_gradient(s, spread.data_ptr<T>(), w.data(), to + i * s.in * s.plane());
    }
  });
}

// weight_gradient is parallel over output channels, so that each sum has one order
// whatever the number of threads.
template <class T>
void weight_gradient(const Shape& s, const at::Tensor& gradient, const at::Tensor& choice, const at::Tensor& x,
                     const at::Tensor& weight_result, const at::Tensor& bias_result) {
  const Kernels<T>& k = kernels<T>();
  const T *from = gradient.data_ptr<T>(), *images = x.data_ptr<T>();
  const uint8_t* chosen = choice.data_ptr<uint8_t>();
  T *w = weight_result.data_ptr<T>(), *b = bias_result.data_ptr<T>();
  at::parallel_for(0, s.out, 4, [&](int64_t begin, int64_t end) {
    const int64_t channels = end - begin;
    const at::Tensor spread = at::zeros({channels * s.spread_plane()}, gradient.options());
    const at::Tensor scratch = at::empty({(k.weight_tile * s.taps() + k.lanes) * k.lanes}, gradient.options());
    for (int64_t i = 0; i < s.blocks; i++) {
      const int64_t offset = (i * s.out + begin) * s.pooled_plane();
      k.expand(s, channels, from + offset, chosen + offset, spread.data_ptr<T>(), b + begin);
      k.weight_gradient(s, channels, spread.data_ptr<T>(), images + i * s.in * s.plane(), w + begin * s.taps(),
                        scratch.data_ptr<T>());
    }
  });
}

struct ConvMaxPoolReLU : torch::autograd::Function<ConvMaxPoolReLU> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight_, const at::Tensor& bias) {
    const at::Tensor x = input.contiguous(), weight = weight_.contiguous();
    const Shape s = shape(x, weight);
    const at::Tensor out = at::empty({s.blocks, s.out, s.pooled_height(), s.pooled_width(), block}, x.options());
    const at::Tensor choice = at::empty(out.sizes(), x.options().dtype(at::kByte));
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "ConvMaxPoolReLU",
                               [&] { ::forward<scalar_t>(s, x, weight, bias.contiguous(), out, choice); });
    context->save_for_backward({x, weight, choice});
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &choice = saved[2];
    const at::Tensor gradient = gradients[0].contiguous();
    const Shape s = shape(x, weight);
    at::Tensor input_result, weight_result, bias_result;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "ConvMaxPoolReLU", [&] {
      if (context->needs_input_grad(0)) {
        input_result = at::empty_like(x);
        input_gradient<scalar_t>(s, gradient, choice, weight, input_result);
      }
      if (context->needs_input_grad(1) || context->needs_input_grad(2)) {
        weight_result = at::zeros_like(weight);
        bias_result = at::zeros({s.out}, x.options());
        weight_gradient<scalar_t>(s, gradient, choice, x, weight_result, bias_result);
      }
    });
    return {input_result, weight_result, bias_result};
  }
};

// blocks_fit tells whether the kernels above take the tensor.
bool blocks_fit(const at::Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble);
}

void check_blocked(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  TORCH_CHECK(blocks_fit(x) && x.dim() == 5 && x.size(4) == block, "a tensor in blocks is (blocks×c×h×w×16), not ", x.sizes());
  TORCH_CHECK(weight.dim() == 4 && weight.size(1) == x.size(1) && weight.size(2) == weight.size(3),
              "weights for ", x.size(1), " channels are (out×", x.size(1), "×k×k), not ", weight.sizes());
  TORCH_CHECK(bias.dim() == 1 && bias.size(0) == weight.size(0), "the bias of ", weight.size(0), " channels has the shape ",
              bias.sizes());
  TORCH_CHECK(weight.scalar_type() == x.scalar_type() && bias.scalar_type() == x.scalar_type() && weight.is_cpu() && bias.is_cpu(),
              "images, weights and bias differ in type or device: ", x.options(), ", ", weight.options(), ", ", bias.options());
  TORCH_CHECK(weight.size(2) > 0 && x.size(2) > weight.size(2) && x.size(3) > weight.size(2), "images of ", x.size(2), "×",
              x.size(3), " pixels are too small for a kernel of ", weight.size(2), "×", weight.size(2), " and a 2×2 maximum");
}

}  // namespace

iwt_result iwt_block_batch(void* a) {
  return produce([&] {
    at::Tensor x = tensor(a);
    if (!blocks_fit(x)) return channels_last(x);
    TORCH_CHECK(x.dim() == 4, "images are (n×c×h×w), not ", x.sizes());
    const int64_t rows = x.size(0), missing = (block - rows % block) % block;
    if (missing > 0) x = at::constant_pad_nd(x, {0, 0, 0, 0, 0, 0, 0, missing});
    return x.reshape({x.size(0) / block, block, x.size(1), x.size(2), x.size(3)}).permute({0, 2, 3, 4, 1}).contiguous();
  });
}

const char* iwt_convolution_instructions(void) {
#ifdef IWT_INSTRUCTION_SETS
  if (&kernels<float>() == &avx512::kernels<float>) return "AVX512";
  if (&kernels<float>() == &avx2::kernels<float>) return "AVX2";
#endif
  return "";
}

iwt_result iwt_unblock_batch(void* a, int64_t rows) {
  return produce([&] {
    const at::Tensor& x = tensor(a);
    if (x.dim() == 4) return x;
    TORCH_CHECK(x.dim() == 5 && x.size(4) == block && rows <= x.size(0) * block && rows > (x.size(0) - 1) * block,
                "a tensor of the shape ", x.sizes(), " has no ", rows, " rows in blocks of 16");
    const at::Tensor y = x.permute({0, 4, 1, 2, 3}).reshape({x.size(0) * block, x.size(1), x.size(2), x.size(3)});
    return rows == y.size(0) ? y : y.narrow(0, 0, rows);
  });
}

iwt_result iwt_conv_max_pool_relu(void* a, void* weight, void* bias) {
  return produce([&] {
    const at::Tensor &x = tensor(a), &w = tensor(weight), &b = tensor(bias);
    if (x.dim() == 4) return at::max_pool2d(at::conv2d(x, w, b), 2).relu();
    check_blocked(x, w, b);
    return ConvMaxPoolReLU::apply(x, w, b);
  });
}
