// Tensors of what the host has. To a GPU nobody waits.
#include <ATen/ops/empty.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>

#include "guard.h"
#include "stream.h"

using namespace iwt;

namespace {

// copying is the stream on which this thread copies to the device.
c10::Stream copying(at::Device device) {
  thread_local std::optional<c10::Stream> stream;
  if (!stream || stream->device() != device) stream = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  return *stream;
}

}  // namespace

iwt_result iwt_from_host(const void* data, int dtype, int index, const int64_t* shape, int64_t dims) {
  return produce([&] {
    const at::Device to = device(index);
    const at::TensorOptions options(scalar_type(dtype));
    at::Tensor host = at::empty(ints(shape, dims), to.is_cpu() ? options : options.pinned_memory(true));
    if (host.numel() > 0) memcpy(host.data_ptr(), data, host.nbytes());
    if (to.is_cpu()) return host;

    const c10::Stream computing = c10::impl::VirtualGuardImpl(to.type()).getStream(to);
    at::Tensor copy;
    {
      const c10::StreamGuard guard(copying(to));
      copy = host.to(to, /*non_blocking=*/true);
    }
    wait(computing, copying(to));
    copy.record_stream(computing);  // its memory is used again when that is done with it
    return copy;
  });
}
