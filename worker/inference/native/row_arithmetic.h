/* The arithmetic of attention_kernels.c, for one kind of processor; it is included once for each.

   LANES: numbers of a vector, as many as a register has: wider ones are spilt to the stack. NAMED(x): x for this kind. */

#include "row_vectors.h"
#include "row_lanes.h"

#define score NAMED(score)
#define add NAMED(add)
#define Group NAMED(Group)
#define score_in_head NAMED(score_in_head)
#define share_in_head NAMED(share_in_head)
#define mix_in_head NAMED(mix_in_head)
#define attend_in_group NAMED(attend_in_group)
#define keys_of NAMED(keys_of)
#define fetch NAMED(fetch)
#define share_leading NAMED(share_leading)
#define write_values NAMED(write_values)

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

/* A group of a session's rows, TOGETHER at most. asking, mixed: where their queries, and what they mix, stand of the first head;
   from, to: a row sees the places from the one up to the other, and the leading piece's row; least, most: the least and the most
   of them; start: where least's block does. */
typedef struct {
  const Session *own;
  const float *asking[TOGETHER];
  float *mixed[TOGETHER];
  int32_t from[TOGETHER], to[TOGETHER], least, most, start;
} Group;

/* Write a head's scores, of places from start on, TOGETHER vectors a vector of places. */
INLINE void score_in_head(int rows, int width, const Group *group, Py_ssize_t head, floats *scores) {
  const int vectors = (group->most - group->start + LANES - 1) / LANES, first = group->start / LANES;
  const float *asked[TOGETHER];
  for (int row = 0; row < rows; row++) asked[row] = group->asking[row] + head * width;
  for (int vector = 0; vector < vectors; vector += KEYS) {
    const half *keys[KEYS];
    const int left = vectors - vector;
    for (int at = 0; at < KEYS; at++) keys[at] = keys_of(group->own, head, first + vector + (at < left ? at : 0));
    if (left == 1) score(rows, 1, width, keys, asked, scores + vector * TOGETHER);
    else if (left == 2 || KEYS == 2) score(rows, 2, width, keys, asked, scores + vector * TOGETHER);
    else if (left == 3) score(rows, KEYS - 1, width, keys, asked, scores + vector * TOGETHER);
    else score(rows, KEYS, width, keys, asked, scores + vector * TOGETHER);
  }
}

/* Turn a head's scores into shares, which are still to be multiplied by a row's factor. */
INLINE void share_in_head(int rows, const Group *group, floats *shares, float *factor) {
  const int vectors = (group->most - group->start + LANES - 1) / LANES;
  floats largest[TOGETHER], sums[TOGETHER] = {{0}};
  for (int row = 0; row < rows; row++) largest[row] = all(-INFINITY);
  for (int vector = 0; vector < vectors; vector++)
    for (int row = 0; row < rows; row++) {
      floats *own = shares + vector * TOGETHER + row;
      *own = only_seen(*own, group->start + vector * LANES, group->from[row], group->to[row], group->start);
      largest[row] = larger(*own, largest[row]);
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
}

/* Write what a head's rows mix by their shares. */
INLINE void mix_in_head(int rows, int width, const Group *group, Py_ssize_t head, const floats *shares, const float *factor) {
  const Py_ssize_t values = (group->own->heads + head) * width * BLOCK;
  float *mixed[TOGETHER];
  for (int row = 0; row < rows; row++) mixed[row] = group->mixed[row] + head * width;
  for (int at = 0; at < width; at += 2 * LANES)
    add(rows, width, group->own->blocks, values + at, at + LANES < width ? LANES : 0, group->least, group->most, (const float *)shares,
        factor, mixed, at);
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

/* All heads of a group; rows and width are known to the compiler where that halves the time. A head's shares wait for one
   another: meanwhile the next head's scores are computed. next: the session behind, whose turn comes soon, or NULL.
   shares: room for those of two heads. */
INLINE void attend_in_group(int rows, int width, const Group *group, const Session *next, floats *shares) {
  const Py_ssize_t heads = group->own->heads, room = (group->most - group->start + LANES - 1) / LANES * TOGETHER;
  float factor[TOGETHER];
  score_in_head(rows, width, group, 0, shares);
  for (Py_ssize_t head = 0; head < heads; head++) {
    floats *own = shares + head % 2 * room, *other = shares + (head + 1) % 2 * room;
    if (next != NULL) fetch(next, head);
    share_in_head(rows, group, own, factor);
    if (head + 1 < heads) score_in_head(rows, width, group, head + 1, other);
    mix_in_head(rows, width, group, head, own, factor);
  }
}

/* All rows of a pass. asking (rows, 2 D): their inputs, which are not looked at, and their queries; mixed (rows, D). */
static void NAMED(attend)(const Session *sessions, Py_ssize_t count, const float *asking, const int32_t *since,
                          const int32_t *sight, float *mixed, float *room) {
  floats *shares = (floats *)room;
  for (const Session *own = sessions; own < sessions + count; own++) {
    const Py_ssize_t whole_width = own->heads * own->width;
    for (int32_t first = 0; first < own->rows; first += TOGETHER) {
      Group group = {.own = own, .least = MOST};
      const Session *next = first == 0 && own + 1 < sessions + count ? own + 1 : NULL;
      for (int row = 0; row < TOGETHER; row++) { /* the last one stands for those that a group lacks */
        const Py_ssize_t place = own->first + (first + row < own->rows ? first + row : own->rows - 1);
        group.asking[row] = asking + place * 2 * whole_width + whole_width;
        group.mixed[row] = mixed + place * whole_width;
        group.from[row] = first_seen(since[place], sight[place]), group.to[row] = last_seen(sight[place]) + 1;
        group.least = group.from[row] < group.least ? group.from[row] : group.least;
        group.most = group.to[row] > group.most ? group.to[row] : group.most;
      }
      group.start = group.least / BLOCK * BLOCK;
      if (own->width == 32 && own->rows - first < TOGETHER) attend_in_group(TOGETHER - 1, 32, &group, next, shares);
      else if (own->width == 32) attend_in_group(TOGETHER, 32, &group, next, shares);
      else if (own->width == 64) attend_in_group(TOGETHER, 64, &group, next, shares);
      else attend_in_group(TOGETHER, (int)own->width, &group, next, shares);
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

/* Write rows' values, each head's where it stands in a block. */
INLINE void write_values(const Session *own, half *values, int rows, const float *from) {
  for (int row = 0; row < rows; row++, values += own->width, from += 2 * own->heads * own->width)
    for (Py_ssize_t head = 0; head < own->heads; head++)
      for (Py_ssize_t at = 0; at < own->width; at += LANES)
        write_halves(values + head * own->width * BLOCK + at, *(const floats *)(from + head * own->width + at));
}

/* Keep keys and values of rows: seen (rows, 2 D) has a row's keys and values side by side; starts: each session's first row
   among what is kept of it. 0 where a number is not finite, or would not be in half precision. */
static int NAMED(keep_rows)(const Session *sessions, Py_ssize_t count, const float *seen, const int32_t *starts) {
  whole beyond = {0};
  for (Py_ssize_t number = 0; number < count; number++) {
    const Session *own = sessions + number;
    const Py_ssize_t whole_width = own->heads * own->width;
    for (int32_t row = 0, rows; row < own->rows; row += rows) {
      const Py_ssize_t place = place_of(starts[number] + row), block = place / BLOCK;
      const float *from = seen + (own->first + row) * 2 * whole_width;
      rows = BLOCK - (int)(place % BLOCK) < own->rows - row ? BLOCK - (int)(place % BLOCK) : own->rows - row;
      if (place % BLOCK == 1 && block > 0) share_leading(own, block);
      write_keys(own->blocks[block], (int)(place % BLOCK), rows, whole_width, from);
      write_values(own, own->blocks[block] + whole_width * BLOCK + place % BLOCK * own->width, rows, from + whole_width);
      for (Py_ssize_t at = 0; at < 2 * whole_width * rows; at += LANES) beyond |= is_beyond(from + at);
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
#undef Group
#undef score_in_head
#undef share_in_head
#undef mix_in_head
#undef attend_in_group
#undef keys_of
#undef fetch
#undef share_leading
#undef write_keys
#undef write_some_keys
#undef write_values
#undef LANES
#undef NAMED
