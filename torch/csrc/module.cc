// TorchScript modules, which PyTorch writes with torch.jit.
#include <ATen/Context.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "guard.h"
#include "random.h"

using namespace iwt;

namespace {

struct Entry {
  std::string name;
  at::Tensor tensor;
  bool is_parameter;
};

struct Module {
  torch::jit::Module script;
  std::vector<Entry> entries;  // a tensor under several names has the first one here
};

Module& module(void* p) {
  if (p == nullptr) throw std::invalid_argument("the module was closed");
  return *static_cast<Module*>(p);
}

// held is the type in which a module's tensors are held: what may be an index stays an integer.
at::ScalarType held(at::ScalarType type) {
  if (at::isFloatingType(type)) return at::kFloat;
  return at::isIntegralType(type, false) && type != at::kByte ? at::kLong : type;
}

// InMemory reads what lies in memory, which outlives it.
class InMemory : public caffe2::serialize::ReadAdapterInterface {
 public:
  InMemory(const void* content, size_t size) : content_(static_cast<const char*>(content)), size_(size) {}
  size_t size() const override { return size_; }
  size_t read(uint64_t from, void* to, size_t n, const char*) const override {
    n = from < size_ ? std::min(n, static_cast<size_t>(size_ - from)) : 0;
    std::memcpy(to, content_ + from, n);
    return n;
  }

 private:
  const char* content_;
  size_t size_;
};

template <class List>
void append(std::vector<Entry>& entries, std::unordered_set<const void*>& seen, const List& list, bool are_parameters) {
  for (const auto& named : list) {
    at::Tensor t = named.value;
    if (!seen.insert(t.unsafeGetTensorImpl()).second) continue;
    t.set_data(t.to(held(t.scalar_type())));
    entries.push_back({named.name, t, are_parameters && t.is_floating_point()});
  }
}

// set_training switches every submodule that has a mode; those that torch.jit.freeze
// made have none.
void set_training(const torch::jit::Module& script, bool training) {
  for (torch::jit::Module m : script.modules()) {
    if (m.hasattr("training")) m.setattr("training", training);
  }
}

// forward lets what the module draws come from the source, if there is one. On a GPU that
// is the seed of libtorch's generator, which must not change while work is recorded.
at::IValue forward(torch::jit::Module& script, const at::Tensor& x, Random* random) {
  if (random == nullptr) return script.forward({x});
  if (x.is_cuda() && !random->recorded.defined()) {
    at::Generator generator = at::globalContext().defaultGenerator(x.device());
    std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(random->next());
  }
  const Lending lending(*random);
  return script.forward({x});
}

}  // namespace

char* iwt_module_parse(const void* content, size_t size, void** loaded) {
  return guard([&] {
    auto made = std::make_unique<Module>();
    made->script = torch::jit::load(std::make_unique<InMemory>(content, size), at::Device(at::kCPU));
    std::unordered_set<const void*> seen;
    append(made->entries, seen, made->script.named_parameters(), true);
    append(made->entries, seen, made->script.named_buffers(), false);
    *loaded = made.release();
  });
}

void iwt_module_free(void* p) { delete static_cast<Module*>(p); }

int64_t iwt_module_entries(void* p) { return p == nullptr ? 0 : static_cast<int64_t>(static_cast<Module*>(p)->entries.size()); }

iwt_module_entry iwt_module_get(void* p, int64_t index) {
  try {
    const Entry& e = module(p).entries.at(index);
    return {{box(e.tensor), scope(), nullptr}, e.name.c_str(), e.is_parameter};
  } catch (...) {
    return {{nullptr, 0, current()}, nullptr, false};
  }
}

iwt_result iwt_module_forward(void* p, void* input, bool training) {
  return produce([&] {
    Module& m = module(p);
    set_training(m.script, training);
    // The optimiser of graphs watches the first passes and rewrites the later ones,
    // whose results would then depend on how many there were before.
    torch::jit::GraphOptimizerEnabledGuard as_written(false);
    const at::IValue output = forward(m.script, tensor(input), training ? drawing() : nullptr);
    if (!output.isTensor()) throw std::invalid_argument("the module returns a " + output.tagKind() + ", not one tensor");
    return output.toTensor();
  });
}
