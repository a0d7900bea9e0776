// Tensors of what the host has. To a GPU nobody waits: streams and events are those of c10,
// which knows them for every kind of device, so that nothing here needs the headers of CUDA.
#include <ATen/ops/empty.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "guard.h"

using namespace iwt;

iwt_result iwt_from_host(const void* data, int dtype, int index, const int64_t* shape, int64_t dims) {
  return produce([&] {
    const at::Device to = device(index);
    const at::TensorOptions options(scalar_type(dtype));
    at::Tensor host = at::empty(ints(shape, dims), to.is_cpu() ? options : options.pinned_memory(true));
    if (host.numel() > 0) memcpy(host.data_ptr(), data, host.nbytes());
    if (to.is_cpu()) return host;

    const c10::impl::VirtualGuardImpl devices(to.type());
    const c10::Stream computing = devices.getStream(to), copying = devices.getStreamFromGlobalPool(to);
    at::Tensor copy;
    {
      const c10::StreamGuard guard(copying);
      copy = host.to(to, /*non_blocking=*/true);
    }
    c10::Event copied(to.type());
    copied.record(copying);
    copied.block(computing);
    copy.record_stream(computing);  // its memory is used again when that is done with it
    return copy;
  });
}
