// What every file of the shim shares: no exception passes into Go. Files name the operations
// that they use (ATen/ops): reading all of them takes a compiler several seconds.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

#include "iwtorch.h"

namespace iwt {

inline char* message(const char* text) noexcept { return strdup(text); }

// current is the message of the exception that is being handled, without the C++
// stack that c10 appends to it.
inline char* current() noexcept {
  try {
    throw;
  } catch (const c10::Error& e) {
    return message(e.what_without_backtrace());
  } catch (const std::exception& e) {
    return message(e.what());
  } catch (...) {
    return message("an exception of unknown type");
  }
}

template <class F>
char* guard(F&& f) noexcept {
  try {
    f();
    return nullptr;
  } catch (...) {
    return current();
  }
}

// box puts a tensor on the heap and counts it.
void* box(at::Tensor tensor);

uintptr_t scope() noexcept;

// produce runs f, which returns a tensor. One that is not defined has no box.
template <class F>
iwt_result produce(F&& f) noexcept {
  try {
    at::Tensor made = f();
    if (!made.defined()) return {nullptr, 0, nullptr};
    return {box(std::move(made)), scope(), nullptr};
  } catch (...) {
    return {nullptr, 0, current()};
  }
}

inline at::Tensor& tensor(void* p) {
  if (p == nullptr) throw std::invalid_argument("the tensor is empty or was released with its scope");
  return *static_cast<at::Tensor*>(p);
}

// scalar_of returns the tensor of a coefficient that is one.
inline at::Tensor scalar_of(iwt_coefficient c) {
  const at::Tensor& scalar = tensor(c.scalar);
  if (scalar.dim() != 0) throw std::invalid_argument("a coefficient is a tensor without dimensions");
  return scalar;
}

inline at::IntArrayRef ints(const int64_t* values, int64_t count) {
  return at::IntArrayRef(values, static_cast<size_t>(count));
}

at::ScalarType scalar_type(int dtype);
at::Device device(int index);

// channels_last returns images in that order of memory.
at::Tensor channels_last(const at::Tensor& a);

}  // namespace iwt
