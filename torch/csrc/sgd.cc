// Stochastic gradient descent with momentum, as torch.optim.SGD defines it, in one
// pass over each parameter.
#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "guard.h"

using namespace iwt;

namespace {

struct SGD {
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> momentum;  // undefined until a parameter's first step
};

// The three updates of one element, in the order that torch.optim.SGD uses.
template <class T>
void update(T* parameter, const T* gradient, T* buffer, bool first, int64_t begin, int64_t end, iwt_sgd_options o) {
  const T rate = static_cast<T>(o.learning_rate.number), momentum = static_cast<T>(o.momentum),
          decay = static_cast<T>(o.weight_decay);
  for (int64_t i = begin; i < end; i++) {
    const T g = gradient[i] + decay * parameter[i];
    const T b = first ? g : momentum * buffer[i] + g;
    buffer[i] = b;
    parameter[i] -= rate * (o.nesterov ? g + momentum * b : b);
  }
}

template <class T>
void step_on_cpu(at::Tensor& p, const at::Tensor& g, at::Tensor& b, bool first, iwt_sgd_options o) {
  if (o.learning_rate.scalar != nullptr) o.learning_rate.number = scalar_of(o.learning_rate).item<double>();
  T *parameter = p.data_ptr<T>(), *gradient = g.data_ptr<T>(), *buffer = b.data_ptr<T>();
  constexpr int64_t grain = 1 << 15;
  at::parallel_for(0, p.numel(), grain, [&](int64_t begin, int64_t end) {
    update(parameter, gradient, buffer, first, begin, end, o);
  });
}

void step(at::Tensor& p, at::Tensor& buffer, iwt_sgd_options o) {
  at::Tensor g = p.grad();
  const bool first = !buffer.defined();
  if (first) buffer = at::empty_like(p);
  // The one-pass loop walks memory, so it needs the three in the same layout.
  const bool same_layout = p.is_non_overlapping_and_dense() && g.strides() == p.strides() && buffer.strides() == p.strides();
  if (p.is_cpu() && same_layout && g.scalar_type() == p.scalar_type()) {
    if (p.scalar_type() == at::kFloat) return step_on_cpu<float>(p, g, buffer, first, o);
    if (p.scalar_type() == at::kDouble) return step_on_cpu<double>(p, g, buffer, first, o);
  }
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

char* iwt_sgd_step(void* optimizer, iwt_sgd_options options) {
  return guard([&] {
    at::NoGradGuard no_grad;
    SGD& o = sgd(optimizer);
    for (size_t i = 0; i < o.parameters.size(); i++) {
      if (o.parameters[i].grad().defined()) step(o.parameters[i], o.momentum[i], options);
    }
  });
}

char* iwt_sgd_zero_grad(void* optimizer) {
  return guard([&] {
    for (auto& p : sgd(optimizer).parameters) p.mutable_grad().reset();
  });
}

iwt_result iwt_sgd_clip_gradient(void* optimizer, double limit) {
  return produce([&] {
    at::NoGradGuard no_grad;
    SGD& o = sgd(optimizer);
    std::vector<at::Tensor> gradients, norms;
    for (auto& p : o.parameters) {
      if (!p.grad().defined()) continue;
      gradients.push_back(p.grad());
      norms.push_back(at::norm(p.grad()));
    }
    if (norms.empty()) return at::zeros({}, o.parameters.at(0).options());
    const at::Tensor norm = at::norm(at::stack(norms));
    if (std::isfinite(limit)) {
      // Whether there is anything to scale stays on the device: a factor of 1 changes nothing.
      const at::Tensor exact = norm.to(at::kDouble);
      const at::Tensor above = exact.gt(limit).logical_and(exact.isfinite());
      const at::Tensor factor = at::where(above, at::full_like(exact, limit).div(exact), at::ones_like(exact));
      for (auto& g : gradients) g.mul_(factor);
    }
    return norm;
  });
}

iwt_result iwt_sgd_momentum(void* optimizer, int64_t index) {
  try {
    at::Tensor& buffer = slot(optimizer, index);
    if (!buffer.defined()) return {nullptr, 0, nullptr};
    return {box(buffer), scope(), nullptr};
  } catch (...) {
    return {nullptr, 0, current()};
  }
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
