// gotorch's package initialiser calls SetNumThreads with half the number of cores,
// which is 0 on one core; libtorch throws at that, nothing catches, and the process
// ends before main. This definition stands before gotorch's in the order of
// libraries, so the loader binds to it.
#include <cstdint>

#include "iwtorch.h"

extern "C" void SetNumThreads(int32_t threads);

extern "C" void SetNumThreads(int32_t threads) { iwt_free(iwt_set_threads(threads < 1 ? 1 : threads)); }
