// Streams of a thread: one for its work, one for what it copies to a GPU.
#include "stream.h"

#include <ATen/ops/empty.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <memory>
#include <optional>

#include "guard.h"

using namespace iwt;

namespace {

// OwnStream is a thread's: several that train on one GPU would otherwise wait for each other's
// work. Its GPU becomes the thread's current device, whose stream a recording takes.
struct OwnStream {
  explicit OwnStream(at::Device device)
      : devices(device.type()),
        own(devices.getStreamFromGlobalPool(device)),
        outside_device(devices.exchangeDevice(device)),
        outside(devices.exchangeStream(own)) {
    wait(own, outside);
  }

  c10::impl::VirtualGuardImpl devices;
  c10::Stream own;
  c10::Device outside_device;
  c10::Stream outside;
};

// copying is the stream on which this thread copies to the device.
c10::Stream copying(at::Device device) {
  thread_local std::optional<c10::Stream> stream;
  if (!stream || stream->device() != device) stream = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  return *stream;
}

}  // namespace

char* iwt_stream_begin(int index, void** stream) {
  return guard([&] { *stream = new OwnStream(device(index)); });
}

char* iwt_stream_end(void* p) {
  const std::unique_ptr<OwnStream> stream(static_cast<OwnStream*>(p));
  return guard([&] {
    stream->devices.exchangeStream(stream->outside);
    stream->devices.exchangeDevice(stream->outside_device);
    wait(stream->outside, stream->own);
  });
}

// To a GPU nobody waits.
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
