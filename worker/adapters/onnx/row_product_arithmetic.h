/* The arithmetic of row_products.c on vectors: rows as whole numbers, their products with weights, and what follows a product
   within a row. It is included once, where AVX-512 and VNNI may be used. */

typedef int8_t narrow __attribute__((vector_size(LANES), aligned(1), may_alias));

INLINE float sum_of(floats numbers) { return _mm512_reduce_add_ps((__m512)numbers); }

/* Write a row as whole numbers, 64 of them together and so many from one 64 to the next; return its scale, and 128 times their
   sum. */
static float as_whole(const float *row, Py_ssize_t width, int8_t *numbers, Py_ssize_t apart, int32_t *offset) {
  whole largest = {0}, sums = {0};
  for (Py_ssize_t at = 0; at < width; at += LANES) {
    whole size = *(const whole *)(row + at) & 0x7fffffff; /* ordered as whole numbers, what is not finite is the largest */
    largest = (whole)_mm512_max_epi32((__m512i)size, (__m512i)largest);
  }
  const int32_t bits = _mm512_reduce_max_epi32((__m512i)largest);
  float top;
  memcpy(&top, &bits, sizeof top);
  if (bits >= 0x7f800000) { /* not finite, nor is anything that comes of it */
    for (Py_ssize_t at = 0; at < width; at += DEPTH) memset(numbers + at / DEPTH * apart, 0, DEPTH);
    *offset = 0;
    return NAN;
  }
  const float scale = (top > 1e-12f ? top : 1e-12f) / 127.0f;
  const __m512 divisor = _mm512_set1_ps(scale), factor = _mm512_set1_ps(1.0f / scale);
  for (Py_ssize_t at = 0; at < width; at += LANES) {
    /* A division's result without one: a quotient by the inverse, and what it leaves divided once more (Markstein 1990).
       Where what it leaves is too small for a float the quotient may differ, but is nearly 0 then. */
    const __m512 own = _mm512_loadu_ps(row + at), near = _mm512_mul_ps(own, factor);
    floats rounded = (floats)_mm512_fmadd_ps(_mm512_fnmadd_ps(near, divisor, own), factor, near) + 12582912.0f;
    whole number = __builtin_convertvector(rounded - 12582912.0f, whole);
    sums += number;
    *(narrow *)(numbers + at / DEPTH * apart + at % DEPTH) = __builtin_convertvector(number, narrow);
  }
  *offset = 128 * _mm512_reduce_add_epi32((__m512i)sums);
  return scale;
}

/* One through x, 0.53 units in the last place off at most: 14 bits looked up, and a step of Newton's. A division takes ten
   times as long. */
INLINE floats inverse(floats x) {
  const __m512 near = _mm512_rcp14_ps((__m512)x);
  return (floats)_mm512_fmadd_ps(near, _mm512_fnmadd_ps((__m512)x, near, _mm512_set1_ps(1.0f)), near);
}

/* x times the share of the normal distribution below x; the error function is 1.5e-7 off at most (Abramowitz, Stegun 7.1.26). */
INLINE floats opened(floats x) {
  floats size = (floats)((whole)x & 0x7fffffff) * 0.70710678118654752f;
  floats t = inverse(size * 0.3275911f + 1.0f);
  floats power = all(1.061405429f);
  power = power * t - 1.453152027f;
  power = power * t + 1.421413741f;
  power = power * t - 0.284496736f;
  power = power * t + 0.254829592f;
  floats beyond = power * t * exponential(-(size * size)) * 0.5f; /* of the distribution, farther out than x */
  return x * chosen(x < 0.0f, beyond, 1.0f - beyond);
}

/* The sums of up to six rows are variables of their own: an array of them GCC 12 keeps in memory, at half the speed. By the
   intrinsic, it copies every sum at every turn. */
#define EACH_PART(what, row) what(row, 0) what(row, 1) what(row, 2) what(row, 3)
#define EACH_ROW(what) what(0) what(1) what(2) what(3) what(4) what(5)
#define BEGUN(row, part) __m512i sum_##row##_##part = _mm512_setzero_si512();
#define BEGUN_ROW(row) EACH_PART(BEGUN, row)
#define ADDED(row, part) __asm__("vpdpbusd {%2, %1, %0|%0, %1, %2}" : "+v"(sum_##row##_##part) : "v"(four_##part), "v"(same));
#define ADDED_ROW(row)                                       \
  if (row < count) {                                         \
    memcpy(&own, numbers + row * depth + at, sizeof own);    \
    const __m512i same = _mm512_set1_epi32(own);             \
    EACH_PART(ADDED, row)                                    \
  }
#define STORED(row, part) _mm512_storeu_si512(made[row] + part * LANES, sum_##row##_##part);
#define STORED_ROW(row) if (row < count) {EACH_PART(STORED, row)}

/* Multiply up to ROWS rows with 64 columns; count is known to the compiler. ahead, each: at every turn so many lines of 64 bytes
   of the next columns' weights are asked for, from there on: a small batch would wait for them. */
INLINE void multiply(int count, Py_ssize_t depth, const uint8_t *weights, const int8_t *numbers, int32_t (*made)[COLUMNS],
                     const uint8_t *ahead, int each) {
  const uint8_t *near = weights, *far = weights + COLUMNS / 2 * depth;
  EACH_ROW(BEGUN_ROW)
  for (Py_ssize_t at = 0; at < depth; near += 16 * DEPTH, far += 16 * DEPTH)
    for (const Py_ssize_t stop = at + DEPTH; at < stop; at += 4, near += DEPTH, far += DEPTH) {
      const __m512i four_0 = _mm512_loadu_si512(near), four_1 = _mm512_loadu_si512(near + 16 * DEPTH);
      const __m512i four_2 = _mm512_loadu_si512(far), four_3 = _mm512_loadu_si512(far + 16 * DEPTH);
      int32_t own;
      for (int line = 0; line < each; line++, ahead += 64) __builtin_prefetch(ahead, 0, 2);
      EACH_ROW(ADDED_ROW)
    }
  EACH_ROW(STORED_ROW)
}

/* Scale so many rows of 64 sums, add the bias, and do what follows, but for the norm, which wants whole rows. */
static void follow(const Product *product, const int32_t (*made)[COLUMNS], Py_ssize_t first, Py_ssize_t rows, Py_ssize_t column,
                   const float *scale, const int32_t *offset) {
  for (Py_ssize_t row = first; row < first + rows; row++)
    for (int part = 0; part < COLUMNS; part += LANES) {
      const Py_ssize_t place = column + part;
      floats sum = __builtin_convertvector(*(const whole *)(made[row - first] + part) - offset[row], floats);
      sum = sum * *(const floats *)(product->scales + place) * scale[row] + *(const floats *)(product->bias + place);
      if (product->follows == OPENED) sum = opened(sum);
      if (product->follows == NORMED) sum += *(const floats *)(product->added.first + row * product->added.apart + place);
      *(floats *)(product->out.first + row * product->out.apart + place) = sum;
    }
}

static void norm(float *row, Py_ssize_t width, const float *gain, const float *shift) {
  floats sums = all(0.0f), squares = all(0.0f);
  for (Py_ssize_t at = 0; at < width; at += LANES) sums += *(const floats *)(row + at);
  const float mean = sum_of(sums) / (float)width;
  for (Py_ssize_t at = 0; at < width; at += LANES) {
    floats apart = *(const floats *)(row + at) - mean;
    squares += apart * apart;
  }
  const float factor = 1.0f / sqrtf(sum_of(squares) / (float)width + 1e-12f);
  for (Py_ssize_t at = 0; at < width; at += LANES) {
    floats own = (*(const floats *)(row + at) - mean) * factor;
    *(floats *)(row + at) = own * *(const floats *)(gain + at) + *(const floats *)(shift + at);
  }
}

/* All rows with all columns. numbers: the rows' whole numbers; scale, offset: of each row. */
static void multiply_all(const Product *product, const int8_t *numbers, const float *scale, const int32_t *offset) {
  const Py_ssize_t depth = product->rows.width, count = product->rows.count;
  const int more = count > 3 * ROWS ? 1 : count > ROWS ? 2 : 4; /* the next columns' weights are asked for by the first rows */
  for (Py_ssize_t column = 0; column < product->out.width; column += COLUMNS)
    for (Py_ssize_t row = 0; row < count; row += ROWS) {
      const int8_t *own = numbers + row * depth;
      const uint8_t *weights = product->weights + column * depth;
      const Py_ssize_t rows = count - row < ROWS ? count - row : ROWS, asked = row / ROWS * more * (depth / 4) * 64;
      const int each = column + COLUMNS < product->out.width && asked < COLUMNS * depth ? more : 0;
      const uint8_t *ahead = each ? weights + COLUMNS * depth + asked : weights;
      int32_t made[ROWS][COLUMNS];
      switch (rows) {
        case 1: multiply(1, depth, weights, own, made, ahead, each); break;
        case 2: multiply(2, depth, weights, own, made, ahead, each); break;
        case 3: multiply(3, depth, weights, own, made, ahead, each); break;
        case 4: multiply(4, depth, weights, own, made, ahead, each); break;
        case 5: multiply(5, depth, weights, own, made, ahead, each); break;
        default: multiply(ROWS, depth, weights, own, made, ahead, each);
      }
      follow(product, made, row, rows, column, scale, offset);
    }
}
