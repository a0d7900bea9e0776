// The loops of convolution.cc for one instruction set. convolution.cc includes this file
// once for each, within a namespace of its own and with these macros set:
//
//   VECTOR_BYTES  the width of its registers
//   FORWARD_TILE  output channels whose sums are kept in registers, times 4 pixels
//   INPUT_TILE    input channels whose gradients are, times 2 pixels
//   WEIGHT_TILE   output channels whose weights' gradients are, times up to 5 columns
//
// There is no include guard for that reason.

template <class T>
struct Vector {
  static constexpr int lanes = VECTOR_BYTES / sizeof(T);
  typedef T type __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
  typedef uint8_t bytes __attribute__((vector_size(lanes), aligned(1), may_alias));
};

// load reads one vector of a type from memory, which need not be aligned.
#define LOAD(V, p) (*reinterpret_cast<const V*>(p))
#define STORE(V, p) (*reinterpret_cast<V*>(p))

// forward_tile computes outputs of C channels at one pooled position for the samples of
// one vector. x points to the upper left corner of its window.
template <class T, int C>
void forward_tile(const Shape& s, const T* x, const T* weight, const T* bias, T* out, uint8_t* choice) {
  using V = typename Vector<T>::type;
  V sum[C][4];
#pragma GCC unroll 8
  for (int c = 0; c < C; c++) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) sum[c][i] = V{} + bias[c];
  }
  const int64_t row = s.width * block;
  for (int64_t channel = 0; channel < s.in; channel++) {
    for (int64_t ky = 0; ky < s.kernel; ky++) {
      const T* p = x + (channel * s.height + ky) * row;
      for (int64_t kx = 0; kx < s.kernel; kx++, p += block, weight += C) {
        const V corner[4] = {LOAD(V, p), LOAD(V, p + block), LOAD(V, p + row), LOAD(V, p + row + block)};
#pragma GCC unroll 8
        for (int c = 0; c < C; c++) {
#pragma GCC unroll 4
          for (int i = 0; i < 4; i++) sum[c][i] += weight[c] * corner[i];
        }
      }
    }
  }
  // The first of equal values is the largest, and NaN is larger than any number, as in
  // libtorch's pooling. Choice 4 stands for a maximum that rectification took away.
  for (int c = 0; c < C; c++) {
    V best = sum[c][0];
    auto index = best != best;
    index ^= index;
    for (int i = 1; i < 4; i++) {
      const auto larger = (sum[c][i] > best) | (sum[c][i] != sum[c][i]);
      best = larger ? sum[c][i] : best;
      index = larger ? (index ^ index) + i : index;
    }
    const auto rectified = best <= V{};
    STORE(V, out + c * s.pooled_plane()) = rectified ? V{} : best;
    STORE(typename Vector<T>::bytes, choice + c * s.pooled_plane()) =
        __builtin_convertvector(rectified ? (index ^ index) + 4 : index, typename Vector<T>::bytes);
  }
}

template <class T, int C>
void forward_channels(const Shape& s, int64_t channels, const T* x, const T* weight, const T* bias, T* out,
                      uint8_t* choice) {
  if constexpr (C > 1) {
    if (channels < C) return forward_channels<T, C - 1>(s, channels, x, weight, bias, out, choice);
  }
  for (int64_t y = 0; y < s.pooled_height(); y++) {
    for (int64_t column = 0; column < s.pooled_width(); column++) {
      const int64_t from = (2 * y * s.width + 2 * column) * block, to = (y * s.pooled_width() + column) * block;
      for (int lane = 0; lane < block; lane += Vector<T>::lanes)
        forward_tile<T, C>(s, x + from + lane, weight, bias, out + to + lane, choice + to + lane);
    }
  }
}

// forward computes one block of samples. weight is packed as (tile, in, ky, kx, channel of the tile).
template <class T>
void forward(const Shape& s, const T* x, const T* weight, const T* bias, T* out, uint8_t* choice) {
  for (int64_t c = 0; c < s.out; c += FORWARD_TILE) {
    forward_channels<T, FORWARD_TILE>(s, std::min<int64_t>(FORWARD_TILE, s.out - c), x, weight + c * s.taps(), bias + c,
                                      out + c * s.pooled_plane(), choice + c * s.pooled_plane());
  }
}

// expand undoes rectification and pooling for some channels of one block: each gradient
// goes to the pixel that was chosen. The rows of spread have a column more at either
// end, which stays zero. The sum of a channel's gradients that go anywhere is added to its
// bias_gradient.
template <class T>
void expand(const Shape& s, int64_t channels, const T* gradient, const uint8_t* choice, T* spread, T* bias_gradient) {
  using V = typename Vector<T>::type;
  using Bytes = typename Vector<T>::bytes;
  const int64_t row = s.spread_width() * block;
  for (int64_t c = 0; c < channels; c++) {
    V sum{};
    for (int64_t y = 0; y < s.pooled_height(); y++) {
      for (int64_t x = 0; x < s.pooled_width(); x++) {
        T* to = spread + (c * s.convolved_height() + 2 * y) * row + (2 * x + 1) * block;
        for (int lane = 0; lane < block; lane += Vector<T>::lanes) {
          const V g = LOAD(V, gradient + lane);
          const auto index = __builtin_convertvector(LOAD(Bytes, choice + lane), decltype(g != g));
          for (int i = 0; i < 4; i++) {
            const V part = index == i ? g : V{};
            STORE(V, to + (i / 2) * row + (i % 2) * block + lane) = part;
            sum += part;
          }
        }
        gradient += block;
        choice += block;
      }
    }
    for (int lane = 0; lane < Vector<T>::lanes; lane++) bias_gradient[c] += sum[lane];
  }
}

// input_tile computes gradients with respect to C input channels at one or two
// neighbouring pixels for the samples of one vector.
template <class T, int C>
void input_tile(const Shape& s, int64_t y, int64_t x, const T* spread, const T* weight, T* gradient) {
  using V = typename Vector<T>::type;
  V sum[C][2] = {};
  const int64_t row = s.spread_width() * block;
  const int64_t first_y = std::max<int64_t>(0, y - s.convolved_height() + 1), last_y = std::min(s.kernel - 1, y);
  const int64_t first_x = std::max<int64_t>(0, x - s.convolved_width() + 1), last_x = std::min(s.kernel - 1, x + 1);
  for (int64_t channel = 0; channel < s.out; channel++) {
    for (int64_t ky = first_y; ky <= last_y; ky++) {
      const T* from = spread + (channel * s.convolved_height() + y - ky) * row + (x - first_x + 1) * block;
      const T* w = weight + ((channel * s.kernel + ky) * s.kernel + first_x) * C;
      for (int64_t kx = first_x; kx <= last_x; kx++, from -= block, w += C) {
        const V left = LOAD(V, from), right = LOAD(V, from + block);
#pragma GCC unroll 10
        for (int c = 0; c < C; c++) {
          sum[c][0] += w[c] * left;
          sum[c][1] += w[c] * right;
        }
      }
    }
  }
  for (int c = 0; c < C; c++) {
    STORE(V, gradient + c * s.plane()) = sum[c][0];
    if (x + 1 < s.width) STORE(V, gradient + c * s.plane() + block) = sum[c][1];
  }
}

template <class T, int C>
void input_channels(const Shape& s, int64_t channels, const T* spread, const T* weight, T* gradient) {
  if constexpr (C > 1) {
    if (channels < C) return input_channels<T, C - 1>(s, channels, spread, weight, gradient);
  }
  for (int64_t y = 0; y < s.height; y++) {
    for (int64_t x = 0; x < s.width; x += 2) {
      for (int lane = 0; lane < block; lane += Vector<T>::lanes)
        input_tile<T, C>(s, y, x, spread + lane, weight, gradient + (y * s.width + x) * block + lane);
    }
  }
}

// input_gradient computes one block. weight is packed as (tile, out, ky, kx, channel of the tile).
template <class T>
void input_gradient(const Shape& s, const T* spread, const T* weight, T* gradient) {
  for (int64_t c = 0; c < s.in; c += INPUT_TILE) {
    input_channels<T, INPUT_TILE>(s, std::min<int64_t>(INPUT_TILE, s.in - c), spread,
                                  weight + c * s.out * s.kernel * s.kernel, gradient + c * s.plane());
  }
}

// weight_tile adds up, for the samples of one vector, the products of the gradients of C
// output channels and of an input row's K neighbouring columns.
template <class T, int C, int K>
void weight_tile(const Shape& s, const T* spread, const T* x, typename Vector<T>::type* sums) {
  using V = typename Vector<T>::type;
  V sum[C][K] = {};
  const int64_t spread_row = s.spread_width() * block, row = s.width * block;
  for (int64_t y = 0; y < 2 * s.pooled_height(); y++) {
    const T *g = spread + y * spread_row + block, *p = x + y * row;
    for (int64_t column = 0; column < 2 * s.pooled_width(); column++, g += block, p += block) {
      V pixel[K];
#pragma GCC unroll 5
      for (int k = 0; k < K; k++) pixel[k] = LOAD(V, p + k * block);
#pragma GCC unroll 5
      for (int c = 0; c < C; c++) {
        const V gradient = LOAD(V, g + c * s.spread_plane());
#pragma GCC unroll 5
        for (int k = 0; k < K; k++) sum[c][k] += gradient * pixel[k];
      }
    }
  }
  for (int c = 0; c < C; c++)
    for (int k = 0; k < K; k++) sums[c * s.taps() + k] += sum[c][k];
}

template <class T, int C, int K>
void weight_columns(const Shape& s, int64_t columns, const T* spread, const T* x, typename Vector<T>::type* sums) {
  if constexpr (K > 1) {
    if (columns < K) return weight_columns<T, C, K - 1>(s, columns, spread, x, sums);
  }
  weight_tile<T, C, K>(s, spread, x, sums);
}

// lane_sums writes the sum of each of the vectors' lanes. It adds neighbours' halves
// until each vector's sum is in a lane of its own.
template <class T>
void lane_sums(typename Vector<T>::type* vectors, T* sums) {
  using V = typename Vector<T>::type;
  auto index = vectors[0] != vectors[0];
  for (int lane = 0; lane < Vector<T>::lanes; lane++) index[lane] = lane;
  for (int step = 1; step < Vector<T>::lanes; step *= 2) {
    const auto upper = (index & step) != 0;
    const auto straight = upper ? index + Vector<T>::lanes : index;
    const auto crossed = straight ^ step;
    for (int i = 0; i < Vector<T>::lanes; i += 2 * step)
      vectors[i] = __builtin_shuffle(vectors[i], vectors[i + step], straight) +
                   __builtin_shuffle(vectors[i], vectors[i + step], crossed);
  }
  STORE(V, sums) = vectors[0];
}

template <class T, int C>
void weight_channels(const Shape& s, int64_t channels, const T* spread, const T* x, T* gradient, T* scratch) {
  if constexpr (C > 1) {
    if (channels < C) return weight_channels<T, C - 1>(s, channels, spread, x, gradient, scratch);
  }
  using V = typename Vector<T>::type;
  constexpr int lanes = Vector<T>::lanes;
  const int64_t count = C * s.taps();
  V* sums = reinterpret_cast<V*>(scratch);
  std::fill_n(sums, count, V{});
  for (int lane = 0; lane < block; lane += lanes) {
    for (int64_t channel = 0; channel < s.in; channel++) {
      for (int64_t ky = 0; ky < s.kernel; ky++) {
        for (int64_t kx = 0; kx < s.kernel; kx += 5)
          weight_columns<T, C, 5>(s, std::min<int64_t>(5, s.kernel - kx), spread + lane,
                                  x + ((channel * s.height + ky) * s.width + kx) * block + lane,
                                  sums + (channel * s.kernel + ky) * s.kernel + kx);
      }
    }
  }
  T total[lanes];
  for (int64_t i = 0; i < count; i += lanes) {
    lane_sums<T>(sums + i, total);
    for (int64_t j = 0; j < std::min<int64_t>(lanes, count - i); j++) gradient[i + j] += total[j];
  }
}

// weight_gradient adds to some output channels' weights what one block gives, and spread
// holds those channels only.
template <class T>
void weight_gradient(const Shape& s, int64_t channels, const T* spread, const T* x, T* gradient, T* scratch) {
  for (int64_t c = 0; c < channels; c += WEIGHT_TILE) {
    weight_channels<T, WEIGHT_TILE>(s, std::min<int64_t>(WEIGHT_TILE, channels - c),
                                    spread + c * s.spread_plane(), x, gradient + c * s.taps(), scratch);
  }
}

template <class T>
constexpr Kernels<T> kernels = {FORWARD_TILE, INPUT_TILE, WEIGHT_TILE,       VECTOR_BYTES / sizeof(T),
                                forward<T>,   expand<T>,  input_gradient<T>, weight_gradient<T>};

#undef LOAD
#undef STORE
#undef VECTOR_BYTES
#undef FORWARD_TILE
#undef INPUT_TILE
#undef WEIGHT_TILE
