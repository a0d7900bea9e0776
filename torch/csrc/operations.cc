// Operations that are one call of ATen or two.
#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/all.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/relu.h>

#include <limits>
#include <vector>

#include "guard.h"

using namespace iwt;

iwt_result iwt_add(void* a, void* b) {
  return produce([&] { return tensor(a) + tensor(b); });
}
iwt_result iwt_sub(void* a, void* b) {
  return produce([&] { return tensor(a) - tensor(b); });
}
iwt_result iwt_mul(void* a, void* b) {
  return produce([&] { return tensor(a) * tensor(b); });
}
iwt_result iwt_div(void* a, void* b) {
  return produce([&] { return tensor(a) / tensor(b); });
}
iwt_result iwt_affine(void* a, double scale, double shift) {
  return produce([&] {
    at::Tensor scaled = scale == 1 ? tensor(a) : tensor(a) * scale;
    return shift == 0 && scale != 1 ? scaled : scaled + shift;
  });
}
iwt_result iwt_exp(void* a) {
  return produce([&] { return tensor(a).exp(); });
}
iwt_result iwt_log(void* a) {
  return produce([&] { return tensor(a).log(); });
}
iwt_result iwt_square(void* a) {
  return produce([&] { return tensor(a) * tensor(a); });
}
iwt_result iwt_clamp_min(void* a, double minimum) {
  return produce([&] { return tensor(a).clamp_min(minimum); });
}
iwt_result iwt_sum(void* a) {
  return produce([&] { return tensor(a).sum(); });
}
iwt_result iwt_sum_dim(void* a, int64_t dim, bool keep) {
  return produce([&] { return tensor(a).sum(dim, keep); });
}
iwt_result iwt_matmul(void* a, void* b) {
  return produce([&] { return at::mm(tensor(a), tensor(b)); });
}

iwt_result iwt_reshape(void* a, const int64_t* shape, int64_t dims) {
  return produce([&] { return tensor(a).reshape(ints(shape, dims)); });
}
iwt_result iwt_transpose(void* a, int64_t dim0, int64_t dim1) {
  return produce([&] { return tensor(a).transpose(dim0, dim1); });
}
iwt_result iwt_narrow(void* a, int64_t dim, int64_t start, int64_t length) {
  return produce([&] { return tensor(a).narrow(dim, start, length); });
}
iwt_result iwt_cat(void* const* tensors, int64_t count, int64_t dim) {
  return produce([&] {
    std::vector<at::Tensor> list;
    for (int64_t i = 0; i < count; i++) list.push_back(tensor(tensors[i]));
    return at::cat(list, dim);
  });
}
iwt_result iwt_index_select(void* a, int64_t dim, void* index) {
  return produce([&] { return tensor(a).index_select(dim, tensor(index)); });
}
iwt_result iwt_gather(void* a, int64_t dim, void* index) {
  return produce([&] { return tensor(a).gather(dim, tensor(index)); });
}

iwt_result iwt_relu(void* a) {
  return produce([&] { return tensor(a).relu(); });
}
iwt_result iwt_log_sigmoid(void* a) {
  return produce([&] { return at::log_sigmoid(tensor(a)); });
}
iwt_result iwt_softmax(void* a, int64_t dim) {
  return produce([&] { return tensor(a).softmax(dim); });
}
iwt_result iwt_log_softmax(void* a, int64_t dim) {
  return produce([&] { return tensor(a).log_softmax(dim); });
}

namespace {

// A tensor that is not defined stands for an absent bias.
at::Tensor optional(void* p) { return p == nullptr ? at::Tensor() : tensor(p); }

}  // namespace

iwt_result iwt_linear(void* a, void* weight, void* bias) {
  return produce([&] { return at::linear(tensor(a), tensor(weight), optional(bias)); });
}
iwt_result iwt_conv2d(void* a, void* weight, void* bias, int64_t stride, int64_t padding) {
  return produce([&] { return at::conv2d(tensor(a), tensor(weight), optional(bias), stride, padding); });
}
iwt_result iwt_max_pool2d(void* a, int64_t kernel, int64_t stride, int64_t padding) {
  return produce([&] { return at::max_pool2d(tensor(a), kernel, stride, padding); });
}
iwt_result iwt_batch_norm(void* a, void* weight, void* bias, void* mean, void* variance, bool training, double momentum,
                          double epsilon) {
  return produce([&] {
    const at::Tensor& x = tensor(a);
    return at::batch_norm(x, tensor(weight), tensor(bias), tensor(mean), tensor(variance), training, momentum, epsilon,
                          at::globalContext().userEnabledCuDNN());
  });
}
iwt_result iwt_global_average_pool2d(void* a) {
  return produce([&] { return tensor(a).mean(at::IntArrayRef{2, 3}); });
}
char* iwt_relu_in_place(void* a) {
  return guard([&] { at::relu_(tensor(a)); });
}
char* iwt_add_in_place(void* a, void* b) {
  return guard([&] { tensor(a).add_(tensor(b)); });
}
char* iwt_increment(void* a) {
  return guard([&] {
    at::NoGradGuard no_grad;
    tensor(a).add_(1);
  });
}
