// A stream of its own for a thread: several that train on one GPU would otherwise wait for each
// other's work. Its GPU becomes the thread's current device, whose stream a recording takes.
#include "stream.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <memory>

#include "guard.h"

using namespace iwt;

namespace {

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
