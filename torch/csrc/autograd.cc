// Gradients: backward, leaves, gradient reversal.
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>

#include "guard.h"

using namespace iwt;

char* iwt_backward(void* loss) {
  return guard([&] { tensor(loss).backward(); });
}

iwt_result iwt_grad(void* a) {
  return produce([&] { return tensor(a).grad(); });
}

char* iwt_set_requires_grad(void* a, bool requires_grad) {
  return guard([&] { tensor(a).set_requires_grad(requires_grad); });
}

char* iwt_requires_grad(void* a, bool* requires_grad) {
  return guard([&] { *requires_grad = tensor(a).requires_grad(); });
}

iwt_result iwt_detach(void* a) {
  return produce([&] { return tensor(a).detach(); });
}

namespace {

// Factor is a coefficient whose tensor autograd does not look for among its inputs.
struct Factor {
  double number;
  at::Tensor scalar;  // undefined for the number
};

// Reversal is the identity whose derivative is minus a coefficient (Ganin et al.,
// "Domain-Adversarial Training of Neural Networks", 2016).
struct Reversal : torch::autograd::Function<Reversal> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, const Factor& factor) {
    context->saved_data["number"] = factor.number;
    if (factor.scalar.defined()) context->saved_data["scalar"] = factor.scalar;
    return x.view_as(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    auto& saved = context->saved_data;
    const auto scalar = saved.find("scalar");
    const at::Tensor reversed = scalar == saved.end() ? gradients[0].mul(-saved["number"].toDouble())
                                                      : gradients[0].mul(scalar->second.toTensor().neg());
    return {reversed, at::Tensor()};
  }
};

}  // namespace

iwt_result iwt_reverse_gradient(void* a, iwt_coefficient coefficient) {
  return produce([&] {
    return Reversal::apply(tensor(a), Factor{coefficient.number, coefficient.scalar == nullptr ? at::Tensor() : scalar_of(coefficient)});
  });
}
