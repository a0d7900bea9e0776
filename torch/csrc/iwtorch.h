// The C interface of the shim between Go and libtorch.
//
// Conventions. A tensor is a pointer to an at::Tensor on the heap, its box. Every
// function that calls libtorch catches everything: one that makes a tensor returns an
// iwt_result, the others return NULL or a message, and hand what they found out to
// the addresses they are given. A box that is NULL, a released tensor's, is such a
// message. Messages are freed with iwt_free. All names start with iwt_, because
// gotorch's library exports bare ones (Add, Sum, SGD).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  void* tensor;     // a new box, NULL where error is set
  uintptr_t scope;  // the scope that this thread has entered, 0 for none
  char* error;      // NULL, or why there is no tensor
} iwt_result;

// The element types that Go slices and networks use.
enum { IWT_FLOAT32, IWT_FLOAT64, IWT_INT64, IWT_UINT8, IWT_BOOL, IWT_BFLOAT16 };

// The most dimensions that a shape may have here.
enum { IWT_MAX_DIMS = 8 };

// A device is -1 for the CPU, else the index of a CUDA device.
enum { IWT_CPU = -1 };

void iwt_free(char* message);

// Scopes and memory.
uintptr_t iwt_enter_scope(uintptr_t scope);  // returns the scope before
void iwt_release(void** tensors, int64_t count);
int64_t iwt_live_tensors(void);
void iwt_tune_allocator(void);

// Process-wide state of libtorch.
char* iwt_set_threads(int threads);
char* iwt_threads(int* threads);
char* iwt_cuda_devices(int* count);
char* iwt_device_name(int device);  // "" for the CPU, and if the driver does not tell
char* iwt_version(void);
char* iwt_parallel_info(void);
const char* iwt_convolution_instructions(void);  // of convolutions in blocks; "" where they are plain C++
bool iwt_products_by_onednn(void);  // of float32, on the CPU; else by BLAS
char* iwt_seed(uint64_t seed);
char* iwt_set_grad_enabled(bool enabled, bool* before);

// A number, or a tensor of one element in its place, which is read when the operation is
// computed.
typedef struct {
  double number;
  void* scalar;  // NULL for the number
} iwt_coefficient;

// Sources of random numbers, from which dropout draws in the thread that has entered one.
char* iwt_random_new(uint64_t seed, void** random);
void iwt_random_free(void* random);
char* iwt_random_seed(void* random, uint64_t seed);
char* iwt_random_next(void* random, uint64_t* number);
iwt_result iwt_random_state(void* random);
char* iwt_random_set_state(void* random, void* state);
void* iwt_random_enter(void* random);                // NULL: none; returns the one before
char* iwt_random_set_seeded(void* random, bool seeded, iwt_coefficient seed);  // from now on
char* iwt_random_lend(void* random, void** lending);  // to libtorch's generator of the CPU
void iwt_random_take_back(void* lending);             // in the same thread

// Streams of a GPU: work of this thread goes to one of its own, between begin and end.
char* iwt_stream_begin(int device, void** stream);
char* iwt_stream_end(void* stream);

// Work that is recorded once and asked for as a whole. Between begin and end, or begin and
// abandon, everything goes to the graph's stream, recorded or not.
char* iwt_graph_new(int device, void** graph);  // NULL where the libraries have no graphs of CUDA
void iwt_graph_free(void* graph);
char* iwt_graph_begin(void* graph, bool recorded);
char* iwt_graph_end(void* graph);
void iwt_graph_abandon(void* graph);
char* iwt_graph_replay(void* graph);

// Creation, properties, copies.
iwt_result iwt_from_host(const void* data, int dtype, int device, const int64_t* shape, int64_t dims);
iwt_result iwt_full(double value, int dtype, int device, const int64_t* shape, int64_t dims);
iwt_result iwt_randn(int dtype, const int64_t* shape, int64_t dims);
char* iwt_copy_in(void* tensor, const void* data, int dtype, int64_t count);
char* iwt_copy_out(void* tensor, void* data, int dtype, int64_t count);
char* iwt_item(void* tensor, double* value);
char* iwt_shape(void* tensor, int64_t* shape, int64_t* dims);  // shape has room for IWT_MAX_DIMS
char* iwt_dtype(void* tensor, int* dtype);
char* iwt_device(void* tensor, int* device);
char* iwt_is_channels_last(void* tensor, bool* last);
iwt_result iwt_to(void* a, int dtype, int device);
iwt_result iwt_channels_last(void* a);
iwt_result iwt_clone(void* a);
char* iwt_copy_from(void* a, void* b);  // a's values become b's, outside of autograd
char* iwt_move(void* a, int dtype, int device);  // a itself changes type and device

// Autograd.
char* iwt_backward(void* loss);
iwt_result iwt_grad(void* a);  // tensor NULL and error NULL where there is none
char* iwt_set_requires_grad(void* a, bool requires_grad);
char* iwt_requires_grad(void* a, bool* requires_grad);
iwt_result iwt_detach(void* a);
iwt_result iwt_reverse_gradient(void* a, iwt_coefficient coefficient);

// Arithmetic.
iwt_result iwt_add(void* a, void* b);
iwt_result iwt_sub(void* a, void* b);
iwt_result iwt_mul(void* a, void* b);
iwt_result iwt_div(void* a, void* b);
iwt_result iwt_affine(void* a, double scale, double shift);  // scale·a + shift
iwt_result iwt_exp(void* a);
iwt_result iwt_log(void* a);
iwt_result iwt_square(void* a);
iwt_result iwt_clamp_min(void* a, double minimum);
iwt_result iwt_sum(void* a);
iwt_result iwt_sum_dim(void* a, int64_t dim, bool keep);
iwt_result iwt_matmul(void* a, void* b);
iwt_result iwt_outer_product(void* left, void* right);

// Shapes.
iwt_result iwt_reshape(void* a, const int64_t* shape, int64_t dims);
iwt_result iwt_transpose(void* a, int64_t dim0, int64_t dim1);
iwt_result iwt_narrow(void* a, int64_t dim, int64_t start, int64_t length);
iwt_result iwt_cat(void* const* tensors, int64_t count, int64_t dim);
iwt_result iwt_index_select(void* a, int64_t dim, void* index);
iwt_result iwt_gather(void* a, int64_t dim, void* index);

// Networks.
iwt_result iwt_relu(void* a);
iwt_result iwt_log_sigmoid(void* a);
iwt_result iwt_softmax(void* a, int64_t dim);
iwt_result iwt_log_softmax(void* a, int64_t dim);
iwt_result iwt_linear(void* a, void* weight, void* bias);  // bias may be NULL
iwt_result iwt_conv2d(void* a, void* weight, void* bias, int64_t stride, int64_t padding);
iwt_result iwt_max_pool2d(void* a, int64_t kernel, int64_t stride, int64_t padding);
iwt_result iwt_block_batch(void* a);
iwt_result iwt_conv_max_pool_relu(void* a, void* weight, void* bias);
iwt_result iwt_unblock_batch(void* a, int64_t rows);
iwt_result iwt_dropout(void* a, double probability);
iwt_result iwt_dropout2d(void* a, double probability);
iwt_result iwt_gaussian_kernel_sum(void* a, void* bandwidth, int64_t count);
iwt_result iwt_batch_norm(void* a, void* weight, void* bias, void* mean, void* variance, bool training, double momentum,
                          double epsilon);
iwt_result iwt_global_average_pool2d(void* a);
char* iwt_relu_in_place(void* a);
char* iwt_add_in_place(void* a, void* b);
char* iwt_increment(void* a);  // outside of autograd

// Stochastic gradient descent.
typedef struct {
  iwt_coefficient learning_rate;
  double momentum, weight_decay;
  bool nesterov;
} iwt_sgd_options;
char* iwt_sgd_new(void* const* parameters, int64_t count, void** optimizer);
void iwt_sgd_free(void* optimizer);
iwt_result iwt_sgd_step(void* optimizer, iwt_sgd_options options);  // the gradients' norm
char* iwt_sgd_zero_grad(void* optimizer);
iwt_result iwt_sgd_momentum(void* optimizer, int64_t index);  // like iwt_grad
char* iwt_sgd_set_momentum(void* optimizer, int64_t index, void* buffer);

// TorchScript modules. Real numbers are loaded as IWT_FLOAT32 on the CPU.
typedef struct {
  iwt_result tensor;  // the module's own memory
  const char* name;   // valid as long as the module
  bool is_parameter;  // not a buffer
} iwt_module_entry;
char* iwt_module_parse(const void* content, size_t size, void** module);
void iwt_module_free(void* module);
int64_t iwt_module_entries(void* module);
iwt_module_entry iwt_module_get(void* module, int64_t index);
iwt_result iwt_module_forward(void* module, void* input, bool training);

#ifdef __cplusplus
}
#endif
