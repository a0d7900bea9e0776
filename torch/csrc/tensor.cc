// Boxes, scopes, creation, copies and the process-wide state of libtorch.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <dlfcn.h>
#include <malloc.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <atomic>
#include <mutex>
#include <string>

#include "guard.h"

namespace {

std::atomic<int64_t> live_tensors{0};
thread_local uintptr_t current_scope = 0;

}  // namespace

namespace iwt {

void* box(at::Tensor tensor) {
  void* p = new at::Tensor(std::move(tensor));
  live_tensors.fetch_add(1, std::memory_order_relaxed);
  return p;
}

uintptr_t scope() noexcept { return current_scope; }

at::ScalarType scalar_type(int dtype) {
  switch (dtype) {
    case IWT_FLOAT32: return at::kFloat;
    case IWT_FLOAT64: return at::kDouble;
    case IWT_INT64: return at::kLong;
    case IWT_UINT8: return at::kByte;
    case IWT_BOOL: return at::kBool;
    case IWT_BFLOAT16: return at::kBFloat16;
  }
  throw std::invalid_argument("unknown element type " + std::to_string(dtype));
}

at::Device device(int index) {
  if (index == IWT_CPU) return at::Device(at::kCPU);
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
}

}  // namespace iwt

using namespace iwt;

void iwt_free(char* message) { free(message); }

uintptr_t iwt_enter_scope(uintptr_t scope) { return std::exchange(current_scope, scope); }

void iwt_release(void** tensors, int64_t count) {
  for (int64_t i = 0; i < count; i++) delete static_cast<at::Tensor*>(tensors[i]);
  live_tensors.fetch_sub(count, std::memory_order_relaxed);
}

int64_t iwt_live_tensors(void) { return live_tensors.load(std::memory_order_relaxed); }

void iwt_tune_allocator(void) {
#ifdef __GLIBC__
  // By default glibc maps every block above 128 KiB afresh and unmaps it when it is
  // freed, so that each step pays for page faults on all its activations.
  constexpr int keep = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, keep);
  mallopt(M_TRIM_THRESHOLD, keep);
#endif
}

char* iwt_set_threads(int threads) {
  return guard([&] { at::set_num_threads(threads); });
}

char* iwt_threads(int* threads) {
  return guard([&] { *threads = at::get_num_threads(); });
}

char* iwt_cuda_devices(int* count) {
  return guard([&] { *count = static_cast<int>(torch::cuda::device_count()); });
}

// The driver is asked itself: its functions are the same for every version of CUDA, and are in
// the process if a GPU is used.
char* iwt_device_name(int index) {
  char name[256] = "";
  if (index != IWT_CPU) {
    if (void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
      int device;
      const auto get = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
      const auto name_of = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
      if (get == nullptr || name_of == nullptr || get(&device, index) != 0 || name_of(name, sizeof name, device) != 0) name[0] = 0;
      dlclose(driver);
    }
  }
  return message(name);
}

char* iwt_version(void) { return message(TORCH_VERSION); }

char* iwt_parallel_info(void) {
  try {
    return message((at::get_parallel_info() + at::show_config()).c_str());
  } catch (...) {
    return current();
  }
}

char* iwt_seed(uint64_t seed) {
  return guard([&] { at::manual_seed(seed); });
}

char* iwt_set_grad_enabled(bool enabled, bool* before) {
  return guard([&] {
    *before = at::GradMode::is_enabled();
    at::GradMode::set_enabled(enabled);
  });
}

iwt_result iwt_full(double value, int dtype, int index, const int64_t* shape, int64_t dims) {
  return produce(
      [&] { return at::full(ints(shape, dims), value, at::TensorOptions(scalar_type(dtype)).device(device(index))); });
}

iwt_result iwt_randn(int dtype, const int64_t* shape, int64_t dims) {
  return produce([&] { return at::randn(ints(shape, dims), at::TensorOptions(scalar_type(dtype))); });
}

namespace {

// checked is the tensor behind p, which must hold count elements of the type.
at::Tensor checked(void* p, int dtype, int64_t count) {
  at::Tensor t = tensor(p);
  if (t.scalar_type() != scalar_type(dtype))
    throw std::invalid_argument(std::string("the tensor holds ") + toString(t.scalar_type()) + ", the slice " +
                                toString(scalar_type(dtype)));
  if (t.numel() != count)
    throw std::invalid_argument("the tensor holds " + std::to_string(t.numel()) + " elements, the slice " +
                                std::to_string(count));
  return t;
}

}  // namespace

char* iwt_copy_in(void* p, const void* data, int dtype, int64_t count) {
  return guard([&] {
    at::NoGradGuard no_grad;
    at::Tensor t = checked(p, dtype, count);
    if (count == 0) return;
    if (t.is_contiguous() && t.is_cpu()) {
      memcpy(t.data_ptr(), data, t.nbytes());
      return;
    }
    t.copy_(at::from_blob(const_cast<void*>(data), t.sizes(), at::TensorOptions(t.scalar_type())));
  });
}

char* iwt_copy_out(void* p, void* data, int dtype, int64_t count) {
  return guard([&] {
    at::NoGradGuard no_grad;
    at::Tensor t = checked(p, dtype, count);
    if (count == 0) return;
    if (t.is_contiguous() && t.is_cpu()) {
      memcpy(data, t.data_ptr(), t.nbytes());
      return;
    }
    at::from_blob(data, t.sizes(), at::TensorOptions(t.scalar_type())).copy_(t);
  });
}

char* iwt_item(void* p, double* value) {
  return guard([&] { *value = tensor(p).item().toDouble(); });
}

char* iwt_shape(void* p, int64_t* shape, int64_t* dims) {
  return guard([&] {
    auto sizes = tensor(p).sizes();
    if (sizes.size() > IWT_MAX_DIMS)
      throw std::invalid_argument("the tensor has " + std::to_string(sizes.size()) + " dimensions; at most " +
                                  std::to_string(IWT_MAX_DIMS) + " are supported");
    std::copy(sizes.begin(), sizes.end(), shape);
    *dims = static_cast<int64_t>(sizes.size());
  });
}

char* iwt_dtype(void* p, int* dtype) {
  return guard([&] {
    at::ScalarType type = tensor(p).scalar_type();
    for (int d = IWT_FLOAT32; d <= IWT_BFLOAT16; d++) {
      if (scalar_type(d) == type) {
        *dtype = d;
        return;
      }
    }
    throw std::invalid_argument(std::string("no name for element type ") + toString(type));
  });
}

char* iwt_device(void* p, int* index) {
  return guard([&] {
    at::Tensor t = tensor(p);
    *index = t.is_cuda() ? static_cast<int>(t.get_device()) : static_cast<int>(IWT_CPU);
  });
}

char* iwt_is_channels_last(void* p, bool* last) {
  return guard([&] { *last = tensor(p).is_contiguous(at::MemoryFormat::ChannelsLast); });
}

iwt_result iwt_to(void* a, int dtype, int index) {
  return produce([&] { return tensor(a).to(device(index), scalar_type(dtype)); });
}

at::Tensor iwt::channels_last(const at::Tensor& a) {
  at::Tensor t = a.contiguous(at::MemoryFormat::ChannelsLast);
  // With one channel both orders are the same memory, and libtorch takes it for
  // channels first unless the strides say otherwise.
  if (t.suggest_memory_format() != at::MemoryFormat::ChannelsLast)
    t = t.as_strided(t.sizes(), c10::get_channels_last_strides_2d(t.sizes()));
  return t;
}

iwt_result iwt_channels_last(void* a) {
  return produce([&] { return channels_last(tensor(a)); });
}

iwt_result iwt_clone(void* a) {
  return produce([&] { return tensor(a).clone(); });
}

char* iwt_copy_from(void* a, void* b) {
  return guard([&] {
    at::NoGradGuard no_grad;
    at::Tensor to = tensor(a);
    if (to.sizes() != tensor(b).sizes()) throw std::invalid_argument("the shapes differ");
    to.copy_(tensor(b));
  });
}

char* iwt_move(void* a, int dtype, int index) {
  return guard([&] {
    at::NoGradGuard no_grad;
    at::Tensor t = tensor(a);
    t.set_data(t.to(device(index), scalar_type(dtype)));
    t.mutable_grad().reset();
  });
}
