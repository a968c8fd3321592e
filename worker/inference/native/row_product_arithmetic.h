/* The arithmetic of int8_kernels.c on vectors: rows as whole numbers, their products with weights, and what follows a product
   within a row. It is included once for each kind of processor: row_vectors.h says what for. */

#include "row_vectors.h"

#define narrow NAMED(narrow)
#define fused NAMED(fused)
#define sum_of NAMED(sum_of)
#define total_of NAMED(total_of)
#define largest_of NAMED(largest_of)
#define larger NAMED(larger)
#define as_bytes NAMED(as_bytes)
#define inverse NAMED(inverse)
#define limited NAMED(limited)
#define as_whole NAMED(as_whole)
#define opened NAMED(opened)
#define multiply NAMED(multiply)
#define look_at NAMED(look_at)
#define ROWS NAMED(ROWS)
#define place NAMED(place)
#define follow_row NAMED(follow_row)
#define follow NAMED(follow)
#define norm NAMED(norm)

#if LANES == 16
typedef int8_t narrow __attribute__((vector_size(LANES), aligned(1), may_alias));

INLINE floats fused(floats a, floats b, floats c) { return (floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }

INLINE float sum_of(floats numbers) { return _mm512_reduce_add_ps((__m512)numbers); }
INLINE int32_t total_of(whole numbers) { return _mm512_reduce_add_epi32((__m512i)numbers); }
INLINE int32_t largest_of(whole numbers) { return _mm512_reduce_max_epi32((__m512i)numbers); }
INLINE floats limited(floats x, float most) {
  return (floats)_mm512_max_ps((__m512)all(-most), _mm512_min_ps((__m512)all(most), (__m512)x));
}
INLINE whole larger(whole one, whole other) { return (whole)_mm512_max_epi32((__m512i)one, (__m512i)other); }

INLINE void as_bytes(int8_t *to, whole numbers) { *(narrow *)to = __builtin_convertvector(numbers, narrow); }

/* One through x, 0.53 units in the last place off at most: 14 bits looked up, and a step of Newton's. A division takes ten
   times as long. */
INLINE floats inverse(floats x) {
  const floats near = (floats)_mm512_rcp14_ps((__m512)x);
  return fused(near, fused(-x, near, all(1.0f)), near);
}

#include "row_vnni.h"
#else
INLINE floats fused(floats a, floats b, floats c) { return (floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }

INLINE float sum_of(floats numbers) {
  float sum = 0;
  for (int lane = 0; lane < LANES; lane++) sum += numbers[lane];
  return sum;
}

INLINE int32_t total_of(whole numbers) {
  int32_t total = 0;
  for (int lane = 0; lane < LANES; lane++) total += numbers[lane];
  return total;
}

INLINE int32_t largest_of(whole numbers) {
  int32_t largest = numbers[0];
  for (int lane = 1; lane < LANES; lane++) largest = numbers[lane] > largest ? numbers[lane] : largest;
  return largest;
}

INLINE floats limited(floats x, float most) {
  return (floats)_mm256_max_ps((__m256)all(-most), _mm256_min_ps((__m256)all(most), (__m256)x));
}
INLINE whole larger(whole one, whole other) { return (whole)_mm256_max_epi32((__m256i)one, (__m256i)other); }

INLINE void as_bytes(int8_t *to, whole numbers) {
  const __m256i words = _mm256_packs_epi32((__m256i)numbers, (__m256i)numbers); /* of each half on its own */
  const __m128i eight = _mm_unpacklo_epi64(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storel_epi64((__m128i *)to, _mm_packs_epi16(eight, eight));
}

INLINE floats inverse(floats x) { return 1.0f / x; }

#include "row_pairs.h"
#endif

/* Write a row as whole numbers, 64 of them together and so many from one 64 to the next; return its scale, and the sum of what
   weights without a sign have too much. */
static float as_whole(const float *row, Py_ssize_t width, int8_t *numbers, Py_ssize_t apart, int32_t *offset) {
  whole largest = {0}, sums = {0};
  for (Py_ssize_t at = 0; at < width; at += LANES) {
    whole size = *(const whole *)(row + at) & 0x7fffffff; /* ordered as whole numbers, what is not finite is the largest */
    largest = larger(size, largest);
  }
  const int32_t bits = largest_of(largest);
  float top;
  memcpy(&top, &bits, sizeof top);
  if (bits >= 0x7f800000) { /* not finite, nor is anything that comes of it */
    for (Py_ssize_t at = 0; at < width; at += DEPTH) memset(numbers + at / DEPTH * apart, 0, DEPTH);
    *offset = 0;
    return NAN;
  }
  const float scale = (top > 1e-12f ? top : 1e-12f) / 127.0f;
  const floats divisor = all(scale), factor = all(1.0f / scale);
  for (Py_ssize_t at = 0; at < width; at += LANES) {
    /* A division's result without one: a quotient by the inverse, and what it leaves divided once more (Markstein 1990).
       Where what it leaves is too small for a float the quotient may differ, but is nearly 0 then. */
    const floats own = *(const floats *)(row + at), near = own * factor;
    const floats rounded = fused(fused(-near, divisor, own), factor, near) + 12582912.0f;
    const whole number = (whole)rounded - 0x4b400000; /* as 12,582,912 lies in memory: what is more is the rounded number */
    sums += number;
    as_bytes(numbers + at / DEPTH * apart + at % DEPTH, number);
  }
  *offset = MORE * total_of(sums);
  return scale;
}

/* x times the share of the normal distribution below x, which is 2e-7 off at most: a half, and x times a quotient of polynomials
   in its square, fitted to 7e-9 up to 5.5, beyond which 2e-8 are left (tests/unit/inference/test_int8_kernels.py). */
INLINE floats opened(floats x) {
  const floats near = limited(x, 5.5f), square = near * near;
  floats over = all(2.274931694e-8f), under = all(1.197503452e-6f);
  over = over * square + 6.352130626e-6f;
  under = under * square + 7.364798010e-5f;
  over = over * square + 1.688271213e-4f;
  under = under * square + 1.884453044e-3f;
  over = over * square + 4.677269528e-3f;
  under = under * square + 2.864595202e-2f;
  over = over * square + 3.385278543e-2f;
  under = under * square + 2.515222674e-1f;
  over = over * square + 3.989422346e-1f;
  under = under * square + 1.0f;
  return x * (near * over * inverse(under) + 0.5f);
}

/* Where what comes out of a row stands, from a column on: in out, or further on. */
INLINE float *place(const Product *product, Py_ssize_t row, Py_ssize_t column) {
  const Matrix *whose = column < product->out.width ? &product->out : &product->further;
  return whose->first + row * whose->apart + column - (column < product->out.width ? 0 : product->out.width);
}

/* Scale a row's 64 sums, add the bias, and do what follows, which is known to the compiler; but for the norm, which wants whole
   rows. */
INLINE void follow_row(int follows, const Product *product, const int32_t *made, Py_ssize_t row, Py_ssize_t column,
                       const Numbers *numbers) {
  const float *scales = product->scales + column, *bias = product->bias + column, scale = numbers->scale[row];
  const float *added = product->added.first + row * product->added.apart + column;
  float *out = place(product, row, column);
  const int32_t offset = numbers->offset[row];
  for (int part = 0; part < COLUMNS; part += LANES) {
    floats sum = __builtin_convertvector(*(const whole *)(made + part) - offset, floats);
    sum = sum * *(const floats *)(scales + part) * scale;
    if (follows == ROUNDED) __asm__("" : "+x"(sum)); /* where the compiler could see both it would make one operation of them */
    sum += *(const floats *)(bias + part);
    if (follows == OPENED) sum = opened(sum);
    if (follows == NORMED) sum += *(const floats *)(added + part);
    *(floats *)(out + part) = sum;
  }
}

/* The same for so many rows. A row's 64 numbers lie far from the next one's, and seldom in a near cache: they are asked for
   some rows before. */
static void follow(const Product *product, const int32_t (*made)[COLUMNS], Py_ssize_t first, Py_ssize_t rows, Py_ssize_t column,
                   const Numbers *numbers) {
  for (Py_ssize_t row = 0; row < rows; row++) {
    if (row + ROWS_AHEAD < rows)
      for (int part = 0; part < COLUMNS; part += LINE) __builtin_prefetch(place(product, first + row + ROWS_AHEAD, column) + part, 1);
    if (product->follows == OPENED)
      follow_row(OPENED, product, made[row], first + row, column, numbers);
    else if (product->follows == NORMED)
      follow_row(NORMED, product, made[row], first + row, column, numbers);
    else if (product->follows == ROUNDED)
      follow_row(ROUNDED, product, made[row], first + row, column, numbers);
    else
      follow_row(PLAIN, product, made[row], first + row, column, numbers);
  }
}

/* The norm of so many rows, which is known to the compiler: the sums of one row alone wait for one another. */
INLINE void norm(int rows, const Product *product, Py_ssize_t first) {
  const Py_ssize_t width = product->out.width, apart = product->out.apart;
  float *own = product->out.first + first * apart, mean[NORMS], factor[NORMS];
  floats sums[NORMS] = {{0}}, squares[NORMS] = {{0}};
  for (Py_ssize_t at = 0; at < width; at += LANES)
    for (int row = 0; row < rows; row++) sums[row] += *(const floats *)(own + row * apart + at);
  for (int row = 0; row < rows; row++) mean[row] = sum_of(sums[row]) / (float)width;
  for (Py_ssize_t at = 0; at < width; at += LANES)
    for (int row = 0; row < rows; row++) {
      const floats away = *(const floats *)(own + row * apart + at) - mean[row];
      squares[row] += away * away;
    }
  for (int row = 0; row < rows; row++) factor[row] = 1.0f / sqrtf(sum_of(squares[row]) / (float)width + 1e-12f);
  for (Py_ssize_t at = 0; at < width; at += LANES)
    for (int row = 0; row < rows; row++) {
      floats *numbers = (floats *)(own + row * apart + at);
      const floats normed = (*numbers - mean[row]) * factor[row];
      *numbers = normed * *(const floats *)(product->gain + at) + *(const floats *)(product->shift + at);
    }
}

/* All rows with all columns. */
static void NAMED(multiply_all)(const Product *product, const Numbers *numbers) {
  const Py_ssize_t depth = product->rows.width, count = product->rows.count;
  const int more = count > 3 * ROWS ? 1 : count > ROWS ? 2 : 4; /* the next columns' weights are asked for by the first rows */
  for (Py_ssize_t column = 0; column < product->columns; column += COLUMNS)
    for (Py_ssize_t row = 0; row < count; row += ROWS) {
      const uint8_t *weights = product->weights + column * depth;
      const Py_ssize_t rows = count - row < ROWS ? count - row : ROWS, asked = row / ROWS * more * (depth / 4) * 64;
      const int each = column + COLUMNS < product->columns && asked < COLUMNS * depth ? more : 0;
      const uint8_t *ahead = each ? weights + COLUMNS * depth + asked : weights;
      int32_t made[ROWS][COLUMNS];
      switch (rows) {
        case 1: multiply(1, depth, weights, numbers, row, made, ahead, each); break;
        case 2: multiply(2, depth, weights, numbers, row, made, ahead, each); break;
        case 3: multiply(3, depth, weights, numbers, row, made, ahead, each); break;
#if LANES == 16
        case 4: multiply(4, depth, weights, numbers, row, made, ahead, each); break;
        case 5: multiply(5, depth, weights, numbers, row, made, ahead, each); break;
#endif
        default: multiply(ROWS, depth, weights, numbers, row, made, ahead, each);
      }
      follow(product, made, row, rows, column, numbers);
    }
}

static void NAMED(run)(const Kind *kind, const Product *product, const Numbers *numbers) {
  const Py_ssize_t depth = product->rows.width, count = product->rows.count;
  for (Py_ssize_t row = 0; row < count; row++) {
    const Py_ssize_t beside = row % kind->together;
    int8_t *own = numbers->bytes + (row - beside) * depth + beside * DEPTH;
    const float *floating = product->rows.first + row * product->rows.apart;
    numbers->scale[row] = as_whole(floating, depth, own, kind->together * DEPTH, numbers->offset + row);
  }
  look_at(product, numbers);
  kind->multiply_all(product, numbers);
  Py_ssize_t row = product->follows == NORMED ? 0 : count;
  for (; row + NORMS <= count; row += NORMS) norm(NORMS, product, row);
  for (; row < count; row++) norm(1, product, row);
}
