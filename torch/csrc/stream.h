// Streams of a GPU, the queues in which its work waits, as c10 knows them for every kind of
// device, so that nothing here needs the headers of CUDA.
#pragma once

#include <c10/core/Event.h>
#include <c10/core/Stream.h>

namespace iwt {

// wait makes what is asked of one stream from now on wait for what was asked of another.
inline void wait(c10::Stream later, c10::Stream former) {
  c10::Event done(former.device_type());
  done.record(former);
  done.block(later);
}

}  // namespace iwt
