// Graphs of CUDA: work that is recorded once and asked for as a whole. WITH_CUDA says that the
// libtorch is one with CUDA; with another one there are no graphs.
#include <c10/core/impl/VirtualGuardImpl.h>

#include <memory>
#include <optional>

#ifdef WITH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#endif

#include "guard.h"
#include "stream.h"

using namespace iwt;

namespace {

class Graph {
 public:
  explicit Graph(at::Device device) : devices_(device.type()), own_(devices_.getStreamFromGlobalPool(device)), outside_(own_) {}

  void begin(bool recorded) {
    outside_ = devices_.getStream(own_.device());
    wait(own_, outside_);
    devices_.exchangeStream(own_);
    recording_ = recorded;
    if (recorded) {
      try {
        capture();
      } catch (...) {
        recording_ = false;
        leave();
        throw;
      }
    }
  }

  void end() {
    const bool recorded = std::exchange(recording_, false);
    try {
      if (recorded) captured();
    } catch (...) {
      leave();
      throw;
    }
    leave();
  }

  void abandon() noexcept {
    try {
      end();
    } catch (...) {  // what failed before is what is told
    }
  }

  void replay();

 private:
  void leave() {
    devices_.exchangeStream(outside_);
    wait(outside_, own_);
  }
  void capture();
  void captured();

  c10::impl::VirtualGuardImpl devices_;
  c10::Stream own_, outside_;
  bool recording_ = false;
#ifdef WITH_CUDA
  std::optional<at::cuda::CUDAGraph> graph_;  // another one for each recording: one that failed cannot record again
#endif
};

#ifdef WITH_CUDA
constexpr bool can_record = true;

// Other threads may do what they like meanwhile, where libtorch can say that (2.1 and later).
template <class CUDAGraph>
auto capture_alone(CUDAGraph& graph, int)
    -> decltype(graph.capture_begin(std::pair<unsigned long long, unsigned long long>(), cudaStreamCaptureModeThreadLocal)) {
  graph.capture_begin(std::pair<unsigned long long, unsigned long long>(0, 0), cudaStreamCaptureModeThreadLocal);
}
template <class CUDAGraph>
void capture_alone(CUDAGraph& graph, long) {
  graph.capture_begin();
}

void Graph::capture() { capture_alone(graph_.emplace(), 0); }
void Graph::captured() { graph_->capture_end(); }
void Graph::replay() { graph_->replay(); }
#else
constexpr bool can_record = false;

void Graph::capture() {}
void Graph::captured() {}
void Graph::replay() {}
#endif

Graph& graph(void* p) {
  if (p == nullptr) throw std::invalid_argument("the graph was closed");
  return *static_cast<Graph*>(p);
}

}  // namespace

char* iwt_graph_new(int index, void** made) {
  return guard([&] { *made = can_record ? std::make_unique<Graph>(device(index)).release() : nullptr; });
}

void iwt_graph_free(void* p) { delete static_cast<Graph*>(p); }

char* iwt_graph_begin(void* p, bool recorded) {
  return guard([&] { graph(p).begin(recorded); });
}

char* iwt_graph_end(void* p) {
  return guard([&] { graph(p).end(); });
}

void iwt_graph_abandon(void* p) { graph(p).abandon(); }

char* iwt_graph_replay(void* p) {
  return guard([&] { graph(p).replay(); });
}
