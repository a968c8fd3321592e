/* Products of whole numbers by AVX-512 and VNNI: what row_product_arithmetic.h multiplies with. */

enum { ROWS = 6 };

INLINE void look_at(const Product *product, const Numbers *numbers) { (void)product, (void)numbers; }

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

/* Multiply up to ROWS rows, from the first on, with 64 columns; count is known to the compiler. ahead, each: at every
   turn so many lines of 64 bytes of the next columns' weights are asked for, from there on: a small batch would wait for them. */
INLINE void multiply(int count, Py_ssize_t depth, const uint8_t *weights, const Numbers *all, Py_ssize_t first,
                     int32_t (*made)[COLUMNS], const uint8_t *ahead, int each) {
  const int8_t *numbers = all->bytes + first * depth;
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

#undef EACH_ROW
#undef BEGUN
#undef ADDED
#undef STORED
