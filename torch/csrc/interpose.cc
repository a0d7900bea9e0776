// Functions of other libraries that stand before theirs: this library comes first in the
// order in which the loader looks for them.
#include <dlfcn.h>

#include <cstdint>

#include "iwtorch.h"

// gotorch's package initialiser calls SetNumThreads with half the number of cores,
// which is 0 on one core; libtorch throws at that, nothing catches, and the process
// ends before main.
extern "C" void SetNumThreads(int32_t threads);

extern "C" void SetNumThreads(int32_t threads) { iwt_free(iwt_set_threads(threads < 1 ? 1 : threads)); }

#if defined(__x86_64__)
// The product of oneDNN, of matrices in the order of rows. It is absent where libtorch holds
// oneDNN within itself and shows none of it.
extern "C" __attribute__((weak)) int dnnl_sgemm(char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                                                int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc);

// C = alpha op(A) op(B) + beta C of float32, in the order of columns, is what libtorch
// computes every linear map and matrix product by. oneDNN, which comes with libtorch, makes
// its kernels for the processor that it finds; BLAS has those that it was built with, and
// OpenBLAS takes the oldest for a processor that is newer than itself.
extern "C" void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const float* alpha,
                       const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c, const int* ldc) {
  // A matrix in the order of columns is its transpose in the order of rows: Cᵀ = op(B)ᵀ op(A)ᵀ.
  if (dnnl_sgemm != nullptr && dnnl_sgemm(*transb, *transa, *n, *m, *k, *alpha, b, *ldb, a, *lda, *beta, c, *ldc) == 0) return;
  static const auto blas = reinterpret_cast<decltype(&sgemm_)>(dlsym(RTLD_NEXT, "sgemm_"));
  blas(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

bool iwt_products_by_onednn(void) {
  Dl_info first, own;
  return dnnl_sgemm != nullptr && dladdr(dlsym(RTLD_DEFAULT, "sgemm_"), &first) != 0 &&
         dladdr(reinterpret_cast<void*>(&iwt_products_by_onednn), &own) != 0 && first.dli_fbase == own.dli_fbase;
}
#else
bool iwt_products_by_onednn(void) { return false; }
#endif
