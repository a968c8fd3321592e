/* Products of whole numbers by AVX2: what row_product_arithmetic.h multiplies with where there is no VNNI (docs/engine.md).

   vpmaddubsw adds two products in 16 bits: a weight without a sign is 0 to 127, a row's number -127 to 127, so they fit. Eight
   such pairs are added up in 16 bits, too, beginning with -64 times the sum of the numbers, which is what the weights have too
   much. On its way a sum may pass over the end of 16 bits and come back. It is right at last where it lies within them; by
   Cauchy and Schwarz it does where the squares of its numbers add up to ``most`` at most: 32,767 squared through the weights'
   squares. Where they are more each pair goes to 32 bits by itself.

   A part: 32 numbers of a row. Of each four the first two are of one sum of 16 bits, the others of the next. */

enum { ROWS = 4, STEP = 2 * LANES };

/* Four of a row's numbers, in all places. */
INLINE __m256i same(const int8_t *numbers) {
  int32_t four;
  memcpy(&four, numbers, sizeof four);
  return _mm256_set1_epi32(four);
}

/* Four weights of each of eight columns. */
INLINE __m256i eight_columns(const uint8_t *fours) { return _mm256_loadu_si256((const __m256i *)fours); }

/* Of each of a row's parts, write what its sums of 16 bits begin with; say where its squares are more than ``most``. */
static void look_at_parts(const int8_t *numbers, Py_ssize_t parts, const int32_t *most, int32_t *starts, uint8_t *fits) {
  for (Py_ssize_t part = 0; part < parts; part++) {
    const __m256i own = _mm256_loadu_si256((const __m256i *)(numbers + part * PART)), size = _mm256_abs_epi8(own);
    const __m256i squares = _mm256_maddubs_epi16(size, size); /* each of two, not above 32,258 */
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(MORE), own);
    __m128i sums = _mm_add_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    sums = _mm_add_epi16(sums, _mm_unpackhi_epi64(sums, sums));
    sums = _mm_sub_epi16(_mm_setzero_si128(), _mm_add_epi16(sums, _mm_srli_epi64(sums, 32)));
    starts[part] = _mm_cvtsi128_si32(sums);
    __m256i both = _mm256_hadd_epi32(_mm256_and_si256(squares, _mm256_set1_epi32(0xffff)), _mm256_srli_epi32(squares, 16));
    both = _mm256_hadd_epi32(both, both);
    const __m128i added = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    fits[part] &= _mm_cvtsi128_si32(added) <= most[part] && _mm_extract_epi32(added, 1) <= most[part];
  }
}

/* What the parts of all rows begin with, and which are within ``most`` for all of the ROWS that are multiplied together. */
static void look_at(const Product *product, const Numbers *numbers) {
  const Py_ssize_t depth = product->rows.width, count = product->rows.count, parts = depth / PART;
  memset(numbers->fits, 1, (size_t)((count + ROWS - 1) / ROWS * parts));
  for (Py_ssize_t row = 0; row < count; row++) {
    numbers->offset[row] = 0; /* the sums begin with it */
    uint8_t *fits = numbers->fits + row / ROWS * parts;
    look_at_parts(numbers->bytes + row * depth, parts, product->most, numbers->starts + row * parts, fits);
  }
}

/* A part's sums of 16 bits of a row with 16 columns are variables of their own: an array of them GCC 12 keeps in memory. Sums
   of 32 bits lie in memory, for there are not registers enough for both. */
#define EACH_ROW(what) what(0) what(1) what(2) what(3)
#define STARTED(row)                                                              \
  __m256i low_##row, high_##row;                                                  \
  if (row < count) low_##row = high_##row = _mm256_set1_epi32(starts[row * parts + part]);
#define ADDED_TO(pairs, weights)                                                  \
  __asm__("vpmaddubsw {%1, %2, %0|%0, %2, %1}" : "=x"(two) : "x"(four), "x"(weights)); \
  __asm__("vpaddw {%1, %0, %0|%0, %0, %1}" : "+x"(pairs) : "x"(two));
#define ADDED(row)                                                                \
  if (row < count) {                                                              \
    const __m256i four = same(numbers + row * depth + part * PART + turn * 4);    \
    __m256i two;                                                                  \
    ADDED_TO(low_##row, here)                                                     \
    ADDED_TO(high_##row, there)                                                   \
  }
#define WIDENED(row)                                                              \
  if (row < count) {                                                              \
    widen(made[row] + column, low_##row);                                         \
    widen(made[row] + column + LANES, high_##row);                                \
  }

/* Add sums of 16 bits, two by two, to eight of 32. */
INLINE void widen(int32_t *sums, __m256i pairs) {
  *(whole *)sums += (whole)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

/* A part of so many rows with 16 columns, each pair by itself. A function of its own: GCC 12 would read what both ways read
   before it knows which, into too many registers. */
static __attribute__((noinline)) void add_pair_by_pair(int count, Py_ssize_t depth, const uint8_t *fours, const int8_t *numbers,
                                                       int32_t *made) {
  const __m256i ones = _mm256_set1_epi16(1), more = _mm256_set1_epi8(MORE);
  for (int row = 0; row < count; row++, numbers += depth, made += COLUMNS) {
    whole near = *(whole *)made, far = *(whole *)(made + LANES);
    for (int turn = 0; turn < PART / 4; turn++) {
      const __m256i own = same(numbers + turn * 4), most = _mm256_maddubs_epi16(more, own);
      const __m256i here = eight_columns(fours + turn * DEPTH), there = eight_columns(fours + turn * DEPTH + DEPTH / 2);
      near += (whole)_mm256_madd_epi16(_mm256_sub_epi16(_mm256_maddubs_epi16(here, own), most), ones);
      far += (whole)_mm256_madd_epi16(_mm256_sub_epi16(_mm256_maddubs_epi16(there, own), most), ones);
    }
    *(whole *)made = near;
    *(whole *)(made + LANES) = far;
  }
}

/* Multiply up to ROWS rows, from the first on, with 64 columns, 16 at a time; count is known to the compiler. ahead, each: so
   many of four lines of the next columns' weights are asked for, from there on, while as much is computed with. */
INLINE void multiply(int count, Py_ssize_t depth, const uint8_t *weights, const Numbers *all, Py_ssize_t first,
                     int32_t (*made)[COLUMNS], const uint8_t *ahead, int each) {
  const Py_ssize_t parts = depth / PART;
  const int8_t *numbers = all->bytes + first * depth;
  const int32_t *starts = all->starts + first * parts;
  const uint8_t *fits = all->fits + first / ROWS * parts;
  memset(made, 0, sizeof *made * (size_t)count);
  for (int column = 0; column < COLUMNS; column += STEP) {
    const uint8_t *fours = weights + column / (2 * STEP) * 2 * STEP * depth + column % (2 * STEP) * DEPTH;
    for (Py_ssize_t part = 0; part < parts; part++) {
      for (int line = 0; column < each * STEP && line < PART / 4; line++, ahead += 64) __builtin_prefetch(ahead, 0, 2);
      if (fits[part]) {
        EACH_ROW(STARTED)
        for (int turn = 0; turn < PART / 4; turn++) {
          const __m256i here = eight_columns(fours + turn * DEPTH), there = eight_columns(fours + turn * DEPTH + DEPTH / 2);
          EACH_ROW(ADDED)
        }
        EACH_ROW(WIDENED)
      } else
        add_pair_by_pair(count, depth, fours, numbers + part * PART, made[0] + column);
      fours += part % 2 ? PART / 4 * DEPTH + STEP * DEPTH : PART / 4 * DEPTH;
    }
  }
}
