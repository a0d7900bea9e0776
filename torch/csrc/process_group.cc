// Processes that compute together, by c10d: Gloo for tensors on CPUs, NCCL for those on
// GPUs. tools/find-collectives.sh says which of the two this libtorch has.
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/version.h>

#ifdef USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "guard.h"

using namespace iwt;

namespace {

#if TORCH_VERSION_MAJOR < 2
using Backend = c10d::ProcessGroup;
#else
using Backend = c10d::Backend;
#endif

struct Group {
  c10::intrusive_ptr<Backend> backend;
  at::Device device;
  int size;
};

Group& group(void* p) {
  if (p == nullptr) throw std::invalid_argument("the process group was closed");
  return *static_cast<Group*>(p);
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

// Newer versions serve the store by libuv unless told otherwise, which not every libtorch
// is built with.
template <typename Options>
[[maybe_unused]] auto without_libuv(Options& o, int) -> decltype(o.useLibUV, void()) {
  o.useLibUV = false;
}

template <typename Options>
[[maybe_unused]] void without_libuv(Options&, long) {}

// The first process serves the store through which the others find each other, unless
// what started them does. All of them are there when it returns: what comes after that has
// the time of an operation, which may be long, as for a slow disk's checkpoint.
[[maybe_unused]] c10::intrusive_ptr<c10d::Store> meet(const iwt_group_options& o) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(o.port);
  options.isServer = o.rank == 0 && !o.served;
  options.waitWorkers = false;
  options.timeout = milliseconds(o.meeting);
  without_libuv(options, 0);
  auto store = c10::make_intrusive<c10d::TCPStore>(o.host, options);
  auto own = c10::make_intrusive<c10d::PrefixStore>(o.prefix, std::move(store));
  std::vector<std::string> here;
  for (int i = 0; i < o.size; i++) here.push_back("here/" + std::to_string(i));
  own->set(here[o.rank], std::vector<uint8_t>{1});
  own->wait(here, milliseconds(o.meeting));
  return own;
}

c10::intrusive_ptr<Backend> on_cpus([[maybe_unused]] const iwt_group_options& o) {
#ifdef USE_C10D_GLOO
  using Gloo = c10d::ProcessGroupGloo;
  auto options = Gloo::Options::create(milliseconds(o.timeout));
  const char* interface = getenv("GLOO_SOCKET_IFNAME");
  const std::string host = o.host;
  if (interface != nullptr && *interface != 0) {
    options->devices.push_back(Gloo::createDeviceForInterface(interface));
  } else if (host == "localhost" || host == "127.0.0.1") {
    options->devices.push_back(Gloo::createDeviceForHostname(host));
  } else {
    options->devices.push_back(Gloo::createDefaultDevice());
  }
  options->threads = 1;
  return c10::make_intrusive<Gloo>(meet(o), o.rank, o.size, options);
#else
  throw std::runtime_error("this libtorch was built without Gloo, by which processes compute together on CPUs");
#endif
}

c10::intrusive_ptr<Backend> on_gpus([[maybe_unused]] const iwt_group_options& o) {
#ifdef USE_C10D_NCCL
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = milliseconds(o.timeout);
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(meet(o), o.rank, o.size, options);
#else
  throw std::runtime_error(
      "the shim was built without NCCL, by which processes compute together on GPUs: its header nccl.h was not found");
#endif
}

// finish waits for an operation, and for the device that carries it out.
template <class Work>
void finish(const Work& work) {
  if (!work->wait()) throw std::runtime_error("the operation did not succeed");
}

// A bucket is tensors of one type that cross the network together.
struct Bucket {
  std::vector<at::Tensor> parts;
  at::Tensor flat;
  int64_t bytes = 0;

  bool takes(const at::Tensor& t) const {
    constexpr int64_t most = 25 << 20;
    return parts.empty() || (parts[0].scalar_type() == t.scalar_type() && bytes + static_cast<int64_t>(t.nbytes()) <= most);
  }
  void add(const at::Tensor& t) {
    parts.push_back(t);
    bytes += static_cast<int64_t>(t.nbytes());
  }
  void pack() {
    std::vector<at::Tensor> rows;
    for (const at::Tensor& t : parts) rows.push_back(t.reshape(-1));
    flat = at::cat(rows);
  }
  void unpack() {
    int64_t from = 0;
    for (at::Tensor& t : parts) {
      t.copy_(flat.narrow(0, from, t.numel()).view(t.sizes()));
      from += t.numel();
    }
  }
};

// in_buckets packs the tensors, whose device must be the group's, carries out one
// operation on each bucket, all of them at a time, and unpacks what came of it.
template <class Start>
void in_buckets(const Group& g, void* const* tensors, int64_t count, double scale, Start start) {
  at::NoGradGuard no_grad;
  std::vector<Bucket> buckets;
  for (int64_t i = 0; i < count; i++) {
    const at::Tensor t = tensor(tensors[i]).detach();
    if (t.device() != g.device)
      throw std::invalid_argument("a tensor on " + t.device().str() + ", the processes compute on " + g.device.str());
    if (buckets.empty() || !buckets.back().takes(t)) buckets.emplace_back();
    buckets.back().add(t);
  }
  std::vector<decltype(start(std::declval<std::vector<at::Tensor>&>()))> works;
  for (Bucket& b : buckets) {
    b.pack();
    std::vector<at::Tensor> operands{b.flat};
    works.push_back(start(operands));
  }
  for (size_t i = 0; i < buckets.size(); i++) {
    finish(works[i]);
    if (scale != 1) buckets[i].flat.mul_(scale);
    buckets[i].unpack();
  }
}

}  // namespace

char* iwt_group_new(iwt_group_options o, void** made) {
  return guard([&] {
    const at::Device on = device(o.device);
    *made = new Group{on.is_cuda() ? on_gpus(o) : on_cpus(o), on, o.size};
  });
}

void iwt_group_free(void* p) { delete static_cast<Group*>(p); }

char* iwt_group_sum(void* p, void* const* tensors, int64_t count, double scale) {
  return guard([&] {
    const Group& g = group(p);
    in_buckets(g, tensors, count, scale, [&](std::vector<at::Tensor>& operands) { return g.backend->allreduce(operands); });
  });
}

char* iwt_group_broadcast(void* p, void* const* tensors, int64_t count, int root) {
  return guard([&] {
    const Group& g = group(p);
    c10d::BroadcastOptions options;
    options.rootRank = root;
    in_buckets(g, tensors, count, 1,
               [&](std::vector<at::Tensor>& operands) { return g.backend->broadcast(operands, options); });
  });
}

iwt_result iwt_group_gather(void* p, void* a) {
  return produce([&] {
    at::NoGradGuard no_grad;
    const Group& g = group(p);
    std::vector<at::Tensor> input{tensor(a).detach().contiguous()};
    std::vector<std::vector<at::Tensor>> parts(1);
    for (int i = 0; i < g.size; i++) parts[0].push_back(at::empty_like(input[0]));
    finish(g.backend->allgather(parts, input));
    return at::cat(parts[0]);
  });
}
