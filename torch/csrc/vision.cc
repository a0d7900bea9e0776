// What residual networks need beside convolution: normalisation, pooling, and sums
// and rectification in memory that is already there.
#include <ATen/Context.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/relu.h>

#include "guard.h"

using namespace iwt;

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
