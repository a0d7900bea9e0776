// Gradients: backward, leaves, gradient reversal.
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>

#include "guard.h"

using namespace iwt;

char* iwt_backward(void* loss) {
  return guard([&] { tensor(loss).backward(); });
}

iwt_result iwt_grad(void* a) {
  try {
    const at::Tensor& grad = tensor(a).grad();
    if (!grad.defined()) return {nullptr, 0, nullptr};
    return {box(grad), scope(), nullptr};
  } catch (...) {
    return {nullptr, 0, current()};
  }
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

// Reversal is the identity whose derivative is minus a coefficient (Ganin et al.,
// "Domain-Adversarial Training of Neural Networks", 2016).
struct Reversal : torch::autograd::Function<Reversal> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, double coefficient) {
    context->saved_data["coefficient"] = coefficient;
    return x.view_as(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {gradients[0].mul(-context->saved_data["coefficient"].toDouble()), at::Tensor()};
  }
};

}  // namespace

iwt_result iwt_reverse_gradient(void* a, double coefficient) {
  return produce([&] { return Reversal::apply(tensor(a), coefficient); });
}
