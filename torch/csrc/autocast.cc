// Autocast: matrix products and convolutions of float32 are computed in bfloat16.
#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include "guard.h"

using namespace iwt;

namespace {

// set says whether this thread does so on a type of device, and returns whether it did.
// libtorch named its functions after the types until 2.4.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
bool set(at::DeviceType type, bool enabled) {
  const bool before = at::autocast::is_autocast_enabled(type);
  at::autocast::set_autocast_dtype(type, at::kBFloat16);
  at::autocast::set_autocast_enabled(type, enabled);
  return before;
}
#else
bool set(at::DeviceType type, bool enabled) {
  bool before;
  if (type == at::kCPU) {
    before = at::autocast::is_cpu_enabled();
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(enabled);
  } else {
    before = at::autocast::is_enabled();
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(enabled);
  }
  return before;
}
#endif

}  // namespace

char* iwt_set_autocast(int index, bool enabled, bool* before) {
  return guard([&] {
    // Parameters that were cast are kept for their next use, but an optimiser changes them.
    at::autocast::clear_cache();
    *before = set(device(index).type(), enabled);
  });
}
