/* The arithmetic of row_kernels.c, for one kind of processor; it is included once for each.

   LANES: numbers of a vector, as many as a register has: wider ones are spilt to the stack. NAMED(x): x for this kind. */

#include "row_vectors.h"
#include "row_lanes.h"

#define score NAMED(score)
#define add NAMED(add)
#define attend_in_head NAMED(attend_in_head)
#define keys_of NAMED(keys_of)
#define fetch NAMED(fetch)
#define share_leading NAMED(share_leading)

/* Vectors of keys that are computed with at a time, so that their sums and what they are added up of fit the registers. */
#if LANES == 16
#define KEYS 4
#else
#define KEYS 2
#endif

/* Where a head's vector of keys stands, that so many vectors are before. */
INLINE const half *keys_of(const Session *own, Py_ssize_t head, int vector) {
  return own->blocks[vector * LANES / BLOCK] + head * own->width * BLOCK + vector * LANES % BLOCK;
}

/* Write the scores of so many rows, TOGETHER at most, with so many vectors of keys; both are known to the compiler. Sums of fewer
   than eight would wait for one another. */
INLINE void score(int rows, int count, int width, const half *const *keys, const float *const *asked, floats *scores) {
  floats sums[KEYS][TOGETHER] = {{{0}}};
  for (int at = 0; at < width; at++)
    for (int vector = 0; vector < count; vector++) {
      const floats own = read_halves(keys[vector] + at * BLOCK);
      for (int row = 0; row < rows; row++) sums[vector][row] += own * asked[row][at];
    }
  for (int vector = 0; vector < count; vector++)
    for (int row = 0; row < rows; row++) scores[vector * TOGETHER + row] = sums[vector][row];
}

/* Write two vectors of what so many rows mix, the second so many numbers behind the first. values: where those of
   the head, from number ``at`` on, stand in a block; shares: of the places from the start of ``least``'s block on. The leading
   piece's row is taken there, and the others from least to most. */
INLINE void add(int rows, int width, half *const *blocks, Py_ssize_t values, int further, int least, int most,
                const float *shares, const float *factor, float *const *mixed, int at) {
  const int start = least / BLOCK * BLOCK;
  floats first[TOGETHER] = {{0}}, second[TOGETHER] = {{0}};
  for (int from = start, stop; from < most; from = from == start ? (least > start ? least : start + 1) : stop + 1) {
    const half *value = blocks[from / BLOCK] + values + from % BLOCK * width;
    stop = from == start ? start + 1 : (from / BLOCK + 1) * BLOCK;
    stop = most < stop ? most : stop;
    for (int key = from; key < stop; key++, value += width) {
      const float *share = shares + (unsigned)(key - start) / LANES * TOGETHER * LANES + (unsigned)key % LANES;
      floats near = read_halves(value), far = read_halves(value + further);
      for (int row = 0; row < rows; row++) {
        first[row] += near * share[row * LANES];
        second[row] += far * share[row * LANES];
      }
    }
  }
  for (int row = 0; row < rows; row++) {
    /* A zero's sign would tell whether there were keys beyond the row's sight. */
    *(floats *)(mixed[row] + at) = (first[row] + 0.0f) * factor[row];
    *(floats *)(mixed[row] + at + further) = ((further ? second[row] : first[row]) + 0.0f) * factor[row];
  }
}

/* So many rows of a session, TOGETHER at most, in one head. asked: where each row's query stands; from, to: a row sees the places
   from the one up to the other, and the leading piece's row; least, most: the least and the most of them; shares: room for
   TOGETHER vectors of LANES places, from the start of a block on. */
INLINE void attend_in_head(int rows, int width, const Session *own, Py_ssize_t head, const float *const *asked, float *const *mixed,
                           const int32_t *from, const int32_t *to, int least, int most, floats *shares) {
  const int start = least / BLOCK * BLOCK, vectors = (most - start + LANES - 1) / LANES, first = start / LANES;
  floats largest[TOGETHER], sums[TOGETHER] = {{0}};
  float factor[TOGETHER];
  for (int row = 0; row < rows; row++) largest[row] = all(-INFINITY);
  for (int vector = 0; vector < vectors; vector += KEYS) {
    const half *keys[KEYS];
    const int left = vectors - vector;
    for (int at = 0; at < KEYS; at++) keys[at] = keys_of(own, head, first + vector + (at < left ? at : 0));
    if (left == 1) score(rows, 1, width, keys, asked, shares + vector * TOGETHER);
    else if (left == 2 || KEYS == 2) score(rows, 2, width, keys, asked, shares + vector * TOGETHER);
    else if (left == 3) score(rows, KEYS - 1, width, keys, asked, shares + vector * TOGETHER);
    else score(rows, KEYS, width, keys, asked, shares + vector * TOGETHER);
  }
  for (int vector = 0; vector < vectors; vector++)
    for (int row = 0; row < rows; row++) {
      floats *own_scores = shares + vector * TOGETHER + row;
      *own_scores = only_seen(*own_scores, (first + vector) * LANES, from[row], to[row], start);
      largest[row] = larger(*own_scores, largest[row]);
    }
  for (int row = 0; row < rows; row++) {
    const float top = largest_of(largest[row]);
    sums[row] = all(0.0f);
    for (int vector = 0; vector < vectors; vector++) {
      floats share = exponential(shares[vector * TOGETHER + row] - top);
      sums[row] += share;
      shares[vector * TOGETHER + row] = share;
    }
  }
  in_order(sums, factor);
  for (int row = 0; row < rows; row++) factor[row] = 1.0f / factor[row];
  const Py_ssize_t values = (own->heads + head) * width * BLOCK;
  for (int at = 0; at < width; at += 2 * LANES)
    add(rows, width, own->blocks, values + at, at + LANES < width ? LANES : 0, least, most, (const float *)shares, factor, mixed, at);
}

/* Ask for what a head of a session is computed with, while another is computed: of many sessions nothing is in a cache. Of keys
   all that a block has, for each line is of all its rows; of values those that are looked at. */
INLINE void fetch(const Session *own, Py_ssize_t head) {
  const Py_ssize_t numbers = own->width * BLOCK;
  const half *first = own->blocks[own->least / BLOCK] + (own->heads + head) * numbers;
  for (Py_ssize_t at = 0; at < own->width; at += LINE) __builtin_prefetch(first + at, 0, 2);
  for (int32_t place = own->least, stop; place < own->most; place = stop) {
    const half *keys = own->blocks[place / BLOCK] + head * numbers, *values = keys + own->heads * numbers;
    stop = (place / BLOCK + 1) * BLOCK < own->most ? (place / BLOCK + 1) * BLOCK : own->most;
    const Py_ssize_t until = (stop - place / BLOCK * BLOCK) * own->width;
    for (Py_ssize_t at = 0; at < numbers; at += LINE) __builtin_prefetch(keys + at, 0, 2);
    for (Py_ssize_t at = place % BLOCK * own->width; at < until; at += LINE) __builtin_prefetch(values + at, 0, 2);
  }
}

/* All rows of a pass. asking (rows, 2 D): their inputs, which are not looked at, and their queries; mixed (rows, D). */
static void NAMED(attend)(const Session *sessions, Py_ssize_t count, const float *asking, const int32_t *since,
                          const int32_t *sight, float *mixed, float *shares) {
  for (Py_ssize_t number = 0; number < count; number++) {
    const Session *own = sessions + number;
    const Py_ssize_t whole_width = own->heads * own->width;
    for (int32_t group = 0; group < own->rows; group += TOGETHER)
      for (Py_ssize_t head = 0; head < own->heads; head++) {
        const float *asked[TOGETHER];
        float *out[TOGETHER];
        int32_t from[TOGETHER], to[TOGETHER], least = MOST, most = 0;
        for (int row = 0; row < TOGETHER; row++) { /* the last one stands for those that a group lacks */
          const Py_ssize_t place = own->first + (group + row < own->rows ? group + row : own->rows - 1);
          asked[row] = asking + place * 2 * whole_width + whole_width + head * own->width;
          out[row] = mixed + place * whole_width + head * own->width;
          from[row] = first_seen(since[place], sight[place]), to[row] = last_seen(sight[place]) + 1;
          least = from[row] < least ? from[row] : least;
          most = to[row] > most ? to[row] : most;
        }
        if (group == 0 && number + 1 < count && head < own[1].heads) fetch(own + 1, head);
        const int rows = own->rows - group < TOGETHER ? TOGETHER - 1 : TOGETHER;
        if (own->width == 32 && rows < TOGETHER) /* known to the compiler: half the time */
          attend_in_head(TOGETHER - 1, 32, own, head, asked, out, from, to, least, most, (floats *)shares);
        else if (own->width == 32)
          attend_in_head(TOGETHER, 32, own, head, asked, out, from, to, least, most, (floats *)shares);
        else if (own->width == 64)
          attend_in_head(TOGETHER, 64, own, head, asked, out, from, to, least, most, (floats *)shares);
        else
          attend_in_head(TOGETHER, (int)own->width, own, head, asked, out, from, to, least, most, (floats *)shares);
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
        __asm__("" : "+m"(turned)); /* by memory: GCC 12 would take them out of the register one by one */
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
#undef in_order
#undef only_seen
#undef larger
#undef KEYS
#undef score
#undef add
#undef attend_in_head
#undef keys_of
#undef fetch
#undef share_leading
#undef LANES
#undef NAMED
