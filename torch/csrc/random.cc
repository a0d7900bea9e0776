// Sources of random numbers, and which of them a thread draws from.
#include "random.h"

#include <ATen/CPUGeneratorImpl.h>

#include <memory>

#include "guard.h"

using namespace iwt;

namespace {

thread_local Random* current_random = nullptr;

at::Tensor state_of(at::Generator& generator) {
  std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.get_state();
}

void set_state(at::Generator& generator, const at::Tensor& state) {
  std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state);
}

std::mutex& lent() {
  static std::mutex mutex;
  return mutex;
}

Random& random_of(void* p) {
  if (p == nullptr) throw std::invalid_argument("the source of random numbers was closed");
  return *static_cast<Random*>(p);
}

}  // namespace

namespace iwt {

uint64_t Random::next() {
  std::lock_guard<std::mutex> lock(engine.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(engine)->random64();
}

Random* drawing() noexcept { return current_random; }

Lending::Lending(Random& random) : lock_(lent()), random_(random) {
  at::Generator libtorchs = at::detail::getDefaultCPUGenerator();
  before_ = state_of(libtorchs);
  set_state(libtorchs, state_of(random_.engine));
}

Lending::~Lending() {
  at::Generator libtorchs = at::detail::getDefaultCPUGenerator();
  set_state(random_.engine, state_of(libtorchs));
  set_state(libtorchs, before_);
}

}  // namespace iwt

char* iwt_random_new(uint64_t seed, void** made) {
  return guard([&] { *made = new Random(at::detail::createCPUGenerator(seed)); });
}

void iwt_random_free(void* random) { delete static_cast<Random*>(random); }

char* iwt_random_seed(void* random, uint64_t seed) {
  return guard([&] { random_of(random).engine.set_current_seed(seed); });
}

char* iwt_random_next(void* random, uint64_t* number) {
  return guard([&] { *number = random_of(random).next(); });
}

iwt_result iwt_random_state(void* random) {
  return produce([&] { return state_of(random_of(random).engine); });
}

char* iwt_random_set_state(void* random, void* state) {
  return guard([&] { set_state(random_of(random).engine, tensor(state)); });
}

void* iwt_random_enter(void* random) { return std::exchange(current_random, static_cast<Random*>(random)); }

char* iwt_random_set_seeded(void* random, bool seeded, iwt_coefficient seed) {
  return guard([&] {
    Random& r = random_of(random);
    r.recorded = seed.scalar == nullptr ? at::Tensor() : scalar_of(seed).to(at::kLong);
    r.seed = static_cast<int64_t>(seed.number);
    r.seeded = seeded;
    r.draws = 0;
  });
}

char* iwt_random_lend(void* random, void** lending) {
  return guard([&] { *lending = new Lending(random_of(random)); });
}

void iwt_random_take_back(void* lending) { delete static_cast<Lending*>(lending); }
