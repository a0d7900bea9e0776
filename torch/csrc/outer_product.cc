// Outer products of the rows of two matrices, and the way back, each in one pass over the
// products, which are many times larger than the rows.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "guard.h"

using namespace iwt;

namespace {

// each_row calls f with the numbers of the rows on several threads, in pieces of some
// ten thousand products.
template <class F>
void each_row(int64_t rows, int64_t products, F&& f) {
  const int64_t grain = std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, products));
  at::parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) f(i);
  });
}

// On a CPU in loops of our own, for two contiguous operands of one type; elsewhere by ATen.
bool loops_fit(const at::Tensor& a, const at::Tensor& b) {
  return a.is_cpu() && b.is_cpu() && a.scalar_type() == b.scalar_type() && (a.scalar_type() == at::kFloat || a.scalar_type() == at::kDouble);
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  const int64_t rows = a.size(0), k = a.size(1), d = b.size(1);
  if (!loops_fit(a, b)) return a.unsqueeze(2).mul(b.unsqueeze(1)).reshape({rows, k * d});
  const at::Tensor out = at::empty({rows, k * d}, a.options());
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "OuterProduct", [&] {
    const scalar_t *left = a.data_ptr<scalar_t>(), *right = b.data_ptr<scalar_t>();
    scalar_t* products = out.data_ptr<scalar_t>();
    each_row(rows, k * d, [&](int64_t i) {
      const scalar_t* row = right + i * d;
      for (int64_t c = 0; c < k; c++) {
        const scalar_t factor = left[i * k + c];
        scalar_t* to = products + (i * k + c) * d;
        for (int64_t j = 0; j < d; j++) to[j] = factor * row[j];
      }
    });
  });
  return out;
}

// Row i of the result is the sum over c of a_ic times the c-th of the k parts of gradient's.
at::Tensor right_gradient(const at::Tensor& gradient, const at::Tensor& a, int64_t d) {
  const int64_t rows = a.size(0), k = a.size(1);
  if (!loops_fit(gradient, a)) return a.to(gradient.scalar_type()).unsqueeze(1).bmm(gradient.reshape({rows, k, d})).squeeze(1);
  const at::Tensor out = at::zeros({rows, d}, gradient.options());
  AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "OuterProduct", [&] {
    const scalar_t *left = a.data_ptr<scalar_t>(), *products = gradient.data_ptr<scalar_t>();
    scalar_t* sums = out.data_ptr<scalar_t>();
    each_row(rows, k * d, [&](int64_t i) {
      scalar_t* sum = sums + i * d;
      for (int64_t c = 0; c < k; c++) {
        const scalar_t factor = left[i * k + c];
        const scalar_t* part = products + (i * k + c) * d;
        for (int64_t j = 0; j < d; j++) sum[j] += factor * part[j];
      }
    });
  });
  return out;
}

at::Tensor left_gradient(const at::Tensor& gradient, const at::Tensor& b, int64_t k) {
  const int64_t rows = b.size(0), d = b.size(1);
  return gradient.reshape({rows, k, d}).bmm(b.to(gradient.scalar_type()).unsqueeze(2)).squeeze(2);
}

struct OuterProduct : torch::autograd::Function<OuterProduct> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& left, const at::Tensor& right) {
    const at::Tensor a = left.contiguous(), b = right.contiguous();
    context->save_for_backward({a, b});
    return product(a, b);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &a = saved[0], &b = saved[1], gradient = gradients[0].contiguous();
    at::Tensor left, right;
    if (context->needs_input_grad(0)) left = left_gradient(gradient, b, a.size(1)).to(a.scalar_type());
    if (context->needs_input_grad(1)) right = right_gradient(gradient, a, b.size(1)).to(b.scalar_type());
    return {left, right};
  }
};

}  // namespace

iwt_result iwt_outer_product(void* left, void* right) {
  return produce([&] {
    const at::Tensor &a = tensor(left), &b = tensor(right);
    TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(0) == b.size(0), "the rows of ", a.sizes(), " and ", b.sizes(),
                " are not those of two matrices with as many rows");
    return OuterProduct::apply(a, b);
  });
}
