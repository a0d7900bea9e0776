// Gaussian kernels between all pairs of rows, with a gradient by hand: autograd would
// record some twenty small operations, and their overhead is most of the time for the
// batches of the discrepancy losses.
#include <torch/csrc/autograd/custom_function.h>

#include "guard.h"

using namespace iwt;

namespace {

// With D_ij = ‖x_i - x_j‖², K = Σ_i exp(-D / (bandwidth·2^i)). Each kernel is the square
// of the next wider one, so that one exponential serves all.
struct GaussianKernelSum : torch::autograd::Function<GaussianKernelSum> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& rows, const at::Tensor& bandwidth,
                            int64_t count) {
    // Far from zero, the squares below would cancel; distances and gradients are those of centred rows.
    const at::Tensor x = rows.sub(rows.mean(0, true));
    const at::Tensor squares = x.square().sum(1);
    const at::Tensor distances =
        x.matmul(x.t()).mul_(-2).add_(squares.unsqueeze(0)).add_(squares.unsqueeze(1)).clamp_min_(0);
    double power = static_cast<double>(INT64_C(1) << (count - 1));
    const at::Tensor scale = bandwidth.reciprocal().mul_(-1 / power);  // of the widest kernel's exponent
    at::Tensor kernel = distances.mul_(scale).exp_();
    const at::Tensor sum = kernel.clone(), derivative = kernel.clone();  // of K by D, over scale
    for (int64_t i = 1; i < count; i++) {
      kernel.square_();
      sum.add_(kernel);
      derivative.add_(kernel, static_cast<double>(INT64_C(1) << i));
    }
    context->save_for_backward({x, derivative.mul_(scale)});
    return sum;
  }

  // D_ij gives x_i the gradient 2(x_i - x_j) and x_j its negative.
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor by_distance = gradients[0].mul(saved[1]);
    const at::Tensor pairs = by_distance.add(by_distance.t());
    return {x.mul(pairs.sum(1, true)).addmm_(pairs, x, 1, -1).mul_(2), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

iwt_result iwt_gaussian_kernel_sum(void* a, void* bandwidth, int64_t count) {
  return produce([&] {
    const at::Tensor &x = tensor(a), &b = tensor(bandwidth);
    TORCH_CHECK(x.dim() == 2, "rows are (n×d), not ", x.sizes());
    TORCH_CHECK(b.dim() == 0 && !b.requires_grad(), "the bandwidth is one constant, not a tensor of the shape ", b.sizes());
    TORCH_CHECK(count >= 1 && count <= 62, count, " bandwidths instead of 1 to 62");
    return GaussianKernelSum::apply(x, b, count);
  });
}
