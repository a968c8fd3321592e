/* The arithmetic of row_kernels.c, for one kind of processor; it is included once for each.

   LANES: numbers of a vector, as many as a register has: wider ones are spilt to the stack. NAMED(x): x for this kind. */

#include "row_vectors.h"

#define read_halves NAMED(read_halves)
#define write_halves NAMED(write_halves)
#define is_beyond NAMED(is_beyond)
#define largest_of NAMED(largest_of)
#define score NAMED(score)
#define add NAMED(add)
#define attend_in_head NAMED(attend_in_head)
#define keys_of NAMED(keys_of)
#define fetch NAMED(fetch)
#define share_leading NAMED(share_leading)

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

/* Which numbers are infinite in half precision, or none: from 65,520 on, as whole numbers, in which what is none is largest. */
INLINE whole is_beyond(const float *numbers) { return (*(const whole *)numbers & 0x7fffffff) >= 0x477ff000; }

/* Where a head's vector of keys stands, that so many vectors are before. */
INLINE const half *keys_of(const Session *own, Py_ssize_t head, int vector) {
  return own->blocks[vector * LANES / BLOCK] + head * own->width * BLOCK + vector * LANES % BLOCK;
}

/* Write the scores of TOGETHER rows with two vectors of keys: eight sums at a time, for four would wait for one another; or with
   the one that is left. */
INLINE void score(int width, const half *keys, const half *further, const float *asked, floats *scores) {
  floats first[TOGETHER] = {{0}}, second[TOGETHER] = {{0}};
  for (int at = 0; further && at < width; at++) {
    floats near = read_halves(keys + at * BLOCK), far = read_halves(further + at * BLOCK);
    for (int row = 0; row < TOGETHER; row++) {
      first[row] += near * asked[at * TOGETHER + row];
      second[row] += far * asked[at * TOGETHER + row];
    }
  }
  for (int at = 0; !further && at < width; at++) {
    floats near = read_halves(keys + at * BLOCK);
    for (int row = 0; row < TOGETHER; row++) first[row] += near * asked[at * TOGETHER + row];
  }
  for (int row = 0; row < TOGETHER; row++) {
    scores[row] = first[row];
    if (further) scores[TOGETHER + row] = second[row];
  }
}

/* Write two vectors of what TOGETHER rows mix, the second so many numbers behind the first, as above. values: where those of
   the head, from number ``at`` on, stand in a block; shares: of the places from the start of ``least``'s block on. The leading
   piece's row is taken there, and the others from least to most. */
INLINE void add(int width, half *const *blocks, Py_ssize_t values, int further, int least, int most, const float *shares,
                const float *factor, float *const *mixed, int at) {
  const int start = least / BLOCK * BLOCK;
  floats first[TOGETHER] = {{0}}, second[TOGETHER] = {{0}};
  for (int from = start, stop; from < most; from = from == start ? (least > start ? least : start + 1) : stop + 1) {
    const half *value = blocks[from / BLOCK] + values + from % BLOCK * width;
    stop = from == start ? start + 1 : (from / BLOCK + 1) * BLOCK;
    stop = most < stop ? most : stop;
    for (int key = from; key < stop; key++, value += width) {
      const float *share = shares + (key - start) / LANES * TOGETHER * LANES + key % LANES;
      floats near = read_halves(value), far = read_halves(value + further);
      for (int row = 0; row < TOGETHER; row++) {
        first[row] += near * share[row * LANES];
        second[row] += far * share[row * LANES];
      }
    }
  }
  for (int row = 0; row < TOGETHER; row++) {
    /* A zero's sign would tell whether there were keys beyond the row's sight. */
    *(floats *)(mixed[row] + at) = (first[row] + 0.0f) * factor[row];
    *(floats *)(mixed[row] + at + further) = ((further ? second[row] : first[row]) + 0.0f) * factor[row];
  }
}

/* TOGETHER rows of a session in one head. asked: a number of each row, then the next of each; from, to: a row sees the places
   from the one up to the other, and the leading piece's row; least, most: the least and the most of them; shares: room for
   TOGETHER vectors of LANES places, from the start of a block on. */
INLINE void attend_in_head(int width, const Session *own, Py_ssize_t head, const float *asked, float *const *mixed,
                           const int32_t *from, const int32_t *to, int least, int most, floats *shares) {
  whole lane;
  const int start = least / BLOCK * BLOCK, vectors = (most - start + LANES - 1) / LANES, first = start / LANES;
  floats largest[TOGETHER];
  float factor[TOGETHER];
  for (int at = 0; at < LANES; at++) lane[at] = at;
  for (int row = 0; row < TOGETHER; row++) largest[row] = all(-INFINITY);
  for (int vector = 0; vector < vectors; vector += 2)
    score(width, keys_of(own, head, first + vector), vector + 1 < vectors ? keys_of(own, head, first + vector + 1) : NULL,
          asked, shares + vector * TOGETHER);
  for (int vector = 0; vector < vectors; vector++)
    for (int row = 0; row < TOGETHER; row++) {
      const whole place = lane + (first + vector) * LANES, leading = (place & (BLOCK - 1)) == 0;
      const whole near = (place >= from[row]) & (place < to[row]) & ~leading;
      floats seen = chosen(near | (place == start), shares[vector * TOGETHER + row], all(-INFINITY));
      largest[row] = chosen(seen > largest[row], seen, largest[row]);
      shares[vector * TOGETHER + row] = seen;
    }
  for (int row = 0; row < TOGETHER; row++) {
    const float top = largest_of(largest[row]);
    float sum = 0.0f;
    floats sums = all(0.0f);
    for (int vector = 0; vector < vectors; vector++) {
      floats share = exponential(shares[vector * TOGETHER + row] - top);
      sums += share;
      shares[vector * TOGETHER + row] = share;
    }
    for (int at = 0; at < LANES; at++) sum += sums[at]; /* in this order: another one says other scores in the last bits */
    factor[row] = 1.0f / sum;
  }
  const Py_ssize_t values = (own->heads + head) * width * BLOCK;
  for (int at = 0; at < width; at += 2 * LANES)
    add(width, own->blocks, values + at, at + LANES < width ? LANES : 0, least, most, (const float *)shares, factor, mixed, at);
}

/* Ask for what a head of a session is computed with, while another is computed: of many sessions nothing is in a cache. */
INLINE void fetch(const Session *own, Py_ssize_t head) {
  const Py_ssize_t numbers = own->width * BLOCK, values = own->heads * numbers;
  for (int32_t place = own->least; place < own->most; place += BLOCK - place % BLOCK) {
    const half *block = own->blocks[place / BLOCK] + head * numbers;
    for (Py_ssize_t at = 0; at < numbers; at += LINE) __builtin_prefetch(block + at, 0, 2);
    for (Py_ssize_t at = 0; at < numbers; at += LINE) __builtin_prefetch(block + values + at, 0, 2);
  }
}

/* All rows of a pass. asking (rows, 2 D): their inputs, which are not looked at, and their queries; mixed (rows, D). */
static void NAMED(attend)(const Session *sessions, Py_ssize_t count, const float *asking, const int32_t *since,
                          const int32_t *sight, float *mixed, float *shares, float *asked) {
  for (Py_ssize_t number = 0; number < count; number++) {
    const Session *own = sessions + number;
    const Py_ssize_t whole_width = own->heads * own->width;
    for (int32_t group = 0; group < own->rows; group += TOGETHER)
      for (Py_ssize_t head = 0; head < own->heads; head++) {
        float *out[TOGETHER];
        int32_t from[TOGETHER], to[TOGETHER], least = MOST, most = 0;
        for (int row = 0; row < TOGETHER; row++) { /* the last one stands for those that a group lacks */
          const Py_ssize_t place = own->first + (group + row < own->rows ? group + row : own->rows - 1);
          const float *query = asking + place * 2 * whole_width + whole_width + head * own->width;
          for (Py_ssize_t at = 0; at < own->width; at++) asked[at * TOGETHER + row] = query[at];
          out[row] = mixed + place * whole_width + head * own->width;
          from[row] = first_seen(since[place], sight[place]), to[row] = last_seen(sight[place]) + 1;
          least = from[row] < least ? from[row] : least;
          most = to[row] > most ? to[row] : most;
        }
        if (group == 0 && number + 1 < count && head < own[1].heads) fetch(own + 1, head);
        if (own->width == 32) /* known to the compiler: half the time */
          attend_in_head(32, own, head, asked, out, from, to, least, most, (floats *)shares);
        else if (own->width == 64)
          attend_in_head(64, own, head, asked, out, from, to, least, most, (floats *)shares);
        else
          attend_in_head((int)own->width, own, head, asked, out, from, to, least, most, (floats *)shares);
      }
  }
}

/* Give a session's block the leading piece's row, which its first one has. */
INLINE void share_leading(const Session *own, Py_ssize_t block) {
  const Py_ssize_t whole_width = own->heads * own->width, values = whole_width * BLOCK;
  const half *from = own->blocks[0];
  half *to = own->blocks[block];
  for (Py_ssize_t at = 0; at < values; at += BLOCK) to[at] = from[at];
  for (Py_ssize_t at = values; at < 2 * values; at += own->width * BLOCK)
    memcpy(to + at, from + at, (size_t)own->width * sizeof(half));
}

/* Keep keys and values of rows: seen (rows, 2 D) has a row's keys and values side by side; starts: each session's first row
   among what is kept of it. 0 where a number is not finite, or would not be in half precision. */
static int NAMED(keep_rows)(const Session *sessions, Py_ssize_t count, const float *seen, const int32_t *starts) {
  whole beyond = {0};
  for (Py_ssize_t number = 0; number < count; number++) {
    const Session *own = sessions + number;
    const Py_ssize_t whole_width = own->heads * own->width;
    for (int32_t row = 0; row < own->rows; row++) {
      const Py_ssize_t place = place_of(starts[number] + row), lane_of_row = place % BLOCK;
      const float *from = seen + (own->first + row) * 2 * whole_width;
      half *keys = own->blocks[place / BLOCK] + lane_of_row;
      half *values = own->blocks[place / BLOCK] + whole_width * BLOCK + lane_of_row * own->width;
      if (lane_of_row == 1 && place > BLOCK) share_leading(own, place / BLOCK);
      for (Py_ssize_t at = 0; at < whole_width; at += LANES) {
        half turned[LANES];
        beyond |= is_beyond(from + at) | is_beyond(from + whole_width + at);
        write_halves(turned, *(const floats *)(from + at));
        for (int lane = 0; lane < LANES; lane++) keys[(at + lane) * BLOCK] = turned[lane];
      }
      for (Py_ssize_t head = 0; head < own->heads; head++)
        for (Py_ssize_t at = 0; at < own->width; at += LANES)
          write_halves(values + head * own->width * BLOCK + at, *(const floats *)(from + whole_width + head * own->width + at));
    }
  }
  int32_t any = 0;
  for (int at = 0; at < LANES; at++) any |= beyond[at];
  return any == 0;
}

#undef floats
#undef whole
#undef all
#undef chosen
#undef exponential
#undef read_halves
#undef write_halves
#undef is_beyond
#undef largest_of
#undef score
#undef add
#undef attend_in_head
#undef keys_of
#undef fetch
#undef share_leading
#undef LANES
#undef NAMED
