/* What attention asks of vectors for one kind of processor, beside their arithmetic: numbers of half precision, keys as
   they are kept, what of several numbers is the largest or the sum, and which a row sees. It is included by row_arithmetic.h,
   which says for what kind. */

#define read_halves NAMED(read_halves)
#define write_halves NAMED(write_halves)
#define write_keys NAMED(write_keys)
#define write_some_keys NAMED(write_some_keys)
#define is_beyond NAMED(is_beyond)
#define largest_of NAMED(largest_of)
#define larger NAMED(larger)
#define in_order NAMED(in_order)
#define only_seen NAMED(only_seen)

/* Read a vector of numbers of half precision, and write one: rounded to the nearest, to even between two. */
#if LANES == 16
INLINE floats read_halves(const half *from) { return (floats)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from)); }

INLINE void write_halves(half *to, floats numbers) {
  _mm256_storeu_si256((__m256i *)to, _mm512_cvtps_ph((__m512)numbers, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif LANES == 8
INLINE floats read_halves(const half *from) { return (floats)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from)); }

INLINE void write_halves(half *to, floats numbers) {
  _mm_storeu_si128((__m128i *)to, _mm256_cvtps_ph((__m256)numbers, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__aarch64__)
INLINE floats read_halves(const half *from) { return (floats)vcvt_f32_f16(vld1_f16((const float16_t *)from)); }

INLINE void write_halves(half *to, floats numbers) { vst1_f16((float16_t *)to, vcvt_f16_f32((float32x4_t)numbers)); }
#else
INLINE floats read_halves(const half *from) {
  floats numbers;
  for (int at = 0; at < LANES; at++) numbers[at] = (float)from[at];
  return numbers;
}

INLINE void write_halves(half *to, floats numbers) {
  for (int at = 0; at < LANES; at++) to[at] = (half)numbers[at];
}
#endif

#if LANES == 16
/* Write the keys of so many rows, TOGETHER at most and known to the compiler. A register has two numbers' lanes: of each row
   both go where they belong at once. */
INLINE void write_some_keys(half *keys, int lane, int rows, Py_ssize_t whole_width, const float *from) {
  const __m512i other = _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi16(1), 1);
  for (Py_ssize_t at = 0; at < whole_width; at += LANES) {
    __m512i own[TOGETHER];
    for (int row = 0; row < rows; row++) {
      const __m512 numbers = _mm512_loadu_ps(from + row * 2 * whole_width + at);
      own[row] = _mm512_castsi256_si512(_mm512_cvtps_ph(numbers, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
    for (int two = 0; two < LANES; two += 2) {
      half *to = keys + (at + two) * BLOCK;
      const __m512i which = _mm512_add_epi16(other, _mm512_set1_epi16((short)two));
      __m512i lanes = _mm512_loadu_si512(to);
      for (int row = 0; row < rows; row++)
        lanes = _mm512_mask_permutexvar_epi16(lanes, (__mmask32)0x10001 << (lane + row), which, own[row]);
      _mm512_storeu_si512(to, lanes);
    }
  }
}
#endif

/* Write the keys of rows (rows, 2 D), one behind another, into a block (D, BLOCK), from a lane on. */
INLINE void write_keys(half *keys, int lane, int rows, Py_ssize_t whole_width, const float *from) {
#if LANES == 16
  for (; rows >= TOGETHER; rows -= TOGETHER, lane += TOGETHER, from += TOGETHER * 2 * whole_width)
    write_some_keys(keys, lane, TOGETHER, whole_width, from);
  if (rows == 3) write_some_keys(keys, lane, 3, whole_width, from);
  else if (rows == 2) write_some_keys(keys, lane, 2, whole_width, from);
  else if (rows == 1) write_some_keys(keys, lane, 1, whole_width, from);
#else
  for (int row = 0; row < rows; row++, from += 2 * whole_width)
    for (Py_ssize_t at = 0; at < whole_width; at += LANES) {
      half turned[LANES];
      write_halves(turned, *(const floats *)(from + at));
      __asm__("" : "+m"(turned)); /* by memory: GCC 12 would take them out of the register one by one */
      for (int one = 0; one < LANES; one++) keys[(at + one) * BLOCK + lane + row] = turned[one];
    }
#endif
}

/* The largest of a vector's numbers, of which none is NaN. */
INLINE float largest_of(floats numbers) {
#if LANES == 16
  return _mm512_reduce_max_ps((__m512)numbers);
#else
  float largest = numbers[0];
  for (int at = 1; at < LANES; at++) largest = numbers[at] > largest ? numbers[at] : largest;
  return largest;
#endif
}

/* The sums of TOGETHER vectors' numbers, each one after another: in another order scores would differ in their last bits. */
INLINE void in_order(const floats *numbers, float *sums) {
#if LANES == 16
  /* Four numbers of one row side by side become one number of four rows. */
  const __m512d low = (__m512d)_mm512_unpacklo_ps((__m512)numbers[0], (__m512)numbers[1]);
  const __m512d high = (__m512d)_mm512_unpackhi_ps((__m512)numbers[0], (__m512)numbers[1]);
  const __m512d further_low = (__m512d)_mm512_unpacklo_ps((__m512)numbers[2], (__m512)numbers[3]);
  const __m512d further_high = (__m512d)_mm512_unpackhi_ps((__m512)numbers[2], (__m512)numbers[3]);
  const __m512 turned[] = {(__m512)_mm512_unpacklo_pd(low, further_low), (__m512)_mm512_unpackhi_pd(low, further_low),
                           (__m512)_mm512_unpacklo_pd(high, further_high), (__m512)_mm512_unpackhi_pd(high, further_high)};
  __m128 sum = _mm_setzero_ps();
  for (int at = 0; at < TOGETHER; at++) sum += _mm512_castps512_ps128(turned[at]);
  for (int at = 0; at < TOGETHER; at++) sum += _mm512_extractf32x4_ps(turned[at], 1);
  for (int at = 0; at < TOGETHER; at++) sum += _mm512_extractf32x4_ps(turned[at], 2);
  for (int at = 0; at < TOGETHER; at++) sum += _mm512_extractf32x4_ps(turned[at], 3);
  _mm_storeu_ps(sums, sum);
#else
  for (int row = 0; row < TOGETHER; row++) {
    sums[row] = 0.0f;
    for (int at = 0; at < LANES; at++) sums[row] += numbers[row][at];
  }
#endif
}

/* Scores of LANES places from a place on, minus infinity where a row does not see them: it sees the places from the one up to
   the other, but for the leading piece's row, with which each block begins, and that row where it stands at start. */
INLINE floats only_seen(floats scores, int place, int from, int to, int start) {
#if LANES == 16
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i behind = _mm512_add_epi32(lanes, _mm512_set1_epi32(place - from));
  const __mmask16 near = _mm512_mask_cmplt_epu32_mask(0xfffe, behind, _mm512_set1_epi32(to - from));
  return (floats)_mm512_mask_blend_ps(place == start ? near | 1 : near, _mm512_set1_ps(-INFINITY), (__m512)scores);
#else
  whole places;
  for (int at = 0; at < LANES; at++) places[at] = place + at;
  const whole near = (places >= from) & (places < to) & ((places & (BLOCK - 1)) != 0);
  return chosen(near | (places == start), scores, all(-INFINITY));
#endif
}

/* The larger of each two numbers; the other one where the first is NaN. */
INLINE floats larger(floats first, floats other) {
#if LANES == 16
  return (floats)_mm512_max_ps((__m512)first, (__m512)other);
#else
  return chosen(first > other, first, other);
#endif
}

/* Which numbers are infinite in half precision, or none: from 65,520 on, as whole numbers, in which what is none is largest. */
INLINE whole is_beyond(const float *numbers) { return (*(const whole *)numbers & 0x7fffffff) >= 0x477ff000; }
