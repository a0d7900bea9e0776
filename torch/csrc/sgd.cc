// Stochastic gradient descent with momentum, as torch.optim.SGD defines it, in one
// pass over each parameter.
#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "guard.h"

using namespace iwt;

namespace {

struct SGD {
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> momentum;  // undefined until a parameter's first step
};

// Length is the Euclidean norm of a gradient that lies in several tensors.
struct Length {
  double squares = 0;             // the sum over tensors that were measured on the CPU
  std::vector<at::Tensor> norms;  // of the others

  // total is a scalar on the device and of the type of like.
  at::Tensor total(const at::Tensor& like) const {
    if (norms.empty()) return at::scalar_tensor(std::sqrt(squares), like.options());
    const at::Tensor others = at::norm(at::stack(norms));
    return squares == 0 ? others : others.square().add(squares).sqrt();
  }
};

// The three updates of one element, in the order that torch.optim.SGD uses, and the sum of
// the squares of the gradient's.
template <class T>
double update(T* parameter, const T* gradient, T* buffer, bool first, int64_t begin, int64_t end, iwt_sgd_options o) {
  const T rate = static_cast<T>(o.learning_rate.number), momentum = static_cast<T>(o.momentum),
          decay = static_cast<T>(o.weight_decay);
  constexpr int64_t lanes = 16;  // sums that do not wait for each other
  T squares[lanes] = {};
  const auto element = [&](int64_t i, int64_t lane) {
    const T raw = gradient[i], g = raw + decay * parameter[i];
    const T b = first ? g : momentum * buffer[i] + g;
    buffer[i] = b;
    parameter[i] -= rate * (o.nesterov ? g + momentum * b : b);
    squares[lane] += raw * raw;
  };
  int64_t i = begin;
  for (; i + lanes <= end; i += lanes)
    for (int64_t lane = 0; lane < lanes; lane++) element(i + lane, lane);
  for (; i < end; i++) element(i, 0);
  double sum = 0;
  for (const T square : squares) sum += square;
  return sum;
}

template <class T>
double step_on_cpu(at::Tensor& p, const at::Tensor& g, at::Tensor& b, bool first, iwt_sgd_options o) {
  if (o.learning_rate.scalar != nullptr) o.learning_rate.number = scalar_of(o.learning_rate).item<double>();
  T *parameter = p.data_ptr<T>(), *gradient = g.data_ptr<T>(), *buffer = b.data_ptr<T>();
  // Sums of pieces of one length, so that how many threads share them changes no bit.
  constexpr int64_t piece = 1 << 12, grain = 8;
  const int64_t length = p.numel(), pieces = (length + piece - 1) / piece;
  std::vector<double> sums(pieces);
  at::parallel_for(0, pieces, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
      sums[i] = update(parameter, gradient, buffer, first, i * piece, std::min(length, (i + 1) * piece), o);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// step updates a parameter, and adds its gradient to length.
void step(at::Tensor& p, at::Tensor& buffer, iwt_sgd_options o, Length& length) {
  at::Tensor g = p.grad();
  const bool first = !buffer.defined();
  if (first) buffer = at::empty_like(p);
  // The one-pass loop walks memory, so it needs the three in the same layout.
  const bool same_layout = p.is_non_overlapping_and_dense() && g.strides() == p.strides() && buffer.strides() == p.strides();
  if (p.is_cpu() && same_layout && g.scalar_type() == p.scalar_type()) {
    if (p.scalar_type() == at::kFloat) {
      length.squares += step_on_cpu<float>(p, g, buffer, first, o);
      return;
    }
    if (p.scalar_type() == at::kDouble) {
      length.squares += step_on_cpu<double>(p, g, buffer, first, o);
      return;
    }
  }
  length.norms.push_back(at::norm(g));
  g = g.add(p, o.weight_decay);
  if (first) {
    buffer.copy_(g);
  } else {
    buffer.mul_(o.momentum).add_(g);
  }
  const at::Tensor direction = o.nesterov ? g.add(buffer, o.momentum) : buffer;
  if (o.learning_rate.scalar == nullptr) {
    p.add_(direction, -o.learning_rate.number);
  } else {
    p.sub_(direction.mul(scalar_of(o.learning_rate)));
  }
}

SGD& sgd(void* p) {
  if (p == nullptr) throw std::invalid_argument("the optimizer was closed");
  return *static_cast<SGD*>(p);
}

at::Tensor& slot(void* p, int64_t index) {
  auto& momentum = sgd(p).momentum;
  if (index < 0 || index >= static_cast<int64_t>(momentum.size()))
    throw std::out_of_range("no parameter " + std::to_string(index) + " of " + std::to_string(momentum.size()));
  return momentum[index];
}

}  // namespace

char* iwt_sgd_new(void* const* parameters, int64_t count, void** optimizer) {
  return guard([&] {
    auto made = std::make_unique<SGD>();
    for (int64_t i = 0; i < count; i++) {
      const at::Tensor& p = tensor(parameters[i]);
      if (!p.is_leaf() || !p.requires_grad())
        throw std::invalid_argument("parameter " + std::to_string(i) + " is not a leaf that requires a gradient");
      made->parameters.push_back(p);
    }
    made->momentum.resize(made->parameters.size());
    *optimizer = made.release();
  });
}

void iwt_sgd_free(void* optimizer) { delete static_cast<SGD*>(optimizer); }

iwt_result iwt_sgd_step(void* optimizer, iwt_sgd_options options) {
  return produce([&] {
    at::NoGradGuard no_grad;
    SGD& o = sgd(optimizer);
    Length length;
    for (size_t i = 0; i < o.parameters.size(); i++) {
      if (o.parameters[i].grad().defined()) step(o.parameters[i], o.momentum[i], options, length);
    }
    return length.total(o.parameters.at(0));
  });
}

char* iwt_sgd_zero_grad(void* optimizer) {
  return guard([&] {
    for (auto& p : sgd(optimizer).parameters) p.mutable_grad().reset();
  });
}

iwt_result iwt_sgd_momentum(void* optimizer, int64_t index) {
  return produce([&] { return slot(optimizer, index); });
}

char* iwt_sgd_set_momentum(void* optimizer, int64_t index, void* buffer) {
  return guard([&] {
    at::Tensor& to = slot(optimizer, index);
    const at::Tensor& p = sgd(optimizer).parameters[index];
    const at::Tensor& from = tensor(buffer);
    if (from.sizes() != p.sizes()) throw std::invalid_argument("the momentum's shape is not its parameter's");
    to = at::empty_like(p).copy_(from);
  });
}
