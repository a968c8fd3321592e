/* The arithmetic of row_kernels.c, for one kind of processor; it is included once for each.

   LANES: numbers of a vector, as many as a register has: wider ones are spilt to the stack. NAMED(x): x for this kind. */

#define floats NAMED(floats)
#define whole NAMED(whole)
#define all NAMED(all)
#define chosen NAMED(chosen)
#define exponential NAMED(exponential)
#define attend_in_head NAMED(attend_in_head)

typedef float floats __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef int32_t whole __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

INLINE floats all(float number) { return number - (floats){0}; }

INLINE floats chosen(whole mask, floats yes, floats no) { return (floats)(((whole)yes & mask) | ((whole)no & ~mask)); }

/* e to the power of numbers that are not above 0, 2e-7 of it off at most; 0 below -87 (Cephes' expf). */
INLINE floats exponential(floats x) {
  whole nothing = x < -87.0f;
  x = chosen(nothing, all(-87.0f), x);
  floats doublings = x * 1.44269504088896341f + 12582912.0f;
  doublings = doublings - 12582912.0f; /* rounded */
  floats rest = x - doublings * 0.693359375f;
  rest = rest + doublings * 2.12194440e-4f;
  floats power = all(1.9875691500e-4f);
  power = power * rest + 1.3981999507e-3f;
  power = power * rest + 8.3334519073e-3f;
  power = power * rest + 4.1665795894e-2f;
  power = power * rest + 1.6666665459e-1f;
  power = power * rest + 5.0000001201e-1f;
  power = power * (rest * rest) + rest + 1.0f;
  whole exponent = (__builtin_convertvector(doublings, whole) + 127) << 23;
  return (floats)((whole)(power * (floats)exponent) & ~nothing);
}

/* TOGETHER rows of a session in one head. asked: a number of each row, then the next of each; sight: how many keys a row
   sees, most: the most of them; shares: room for TOGETHER vectors a block of LANES keys. */
INLINE void attend_in_head(int width, const float *keys, const float *values, Py_ssize_t capacity, const float *asked,
                           float *const *mixed, const int32_t *sight, int most, floats *shares) {
  whole lane;
  const int blocks = (most + LANES - 1) / LANES;
  floats largest[TOGETHER];
  float factor[TOGETHER];
  for (int at = 0; at < LANES; at++) lane[at] = at;
  for (int row = 0; row < TOGETHER; row++) largest[row] = all(-INFINITY);
  for (int block = 0; block < blocks; block++) {
    floats scores[TOGETHER] = {{0}};
    for (int at = 0; at < width; at++) {
      floats key = *(const floats *)(keys + at * capacity + block * LANES);
      for (int row = 0; row < TOGETHER; row++) scores[row] += key * asked[at * TOGETHER + row];
    }
    for (int row = 0; row < TOGETHER; row++) {
      floats seen = chosen(lane + block * LANES < sight[row], scores[row], all(-INFINITY));
      largest[row] = chosen(seen > largest[row], seen, largest[row]);
      shares[block * TOGETHER + row] = seen;
    }
  }
  for (int row = 0; row < TOGETHER; row++) {
    float top = largest[row][0], sum = 0.0f;
    floats sums = all(0.0f);
    for (int at = 1; at < LANES; at++) top = largest[row][at] > top ? largest[row][at] : top;
    for (int block = 0; block < blocks; block++) {
      floats share = exponential(shares[block * TOGETHER + row] - top);
      sums += share;
      shares[block * TOGETHER + row] = share;
    }
    for (int at = 0; at < LANES; at++) sum += sums[at];
    factor[row] = 1.0f / sum;
  }
  for (int at = 0; at < width; at += LANES) {
    floats sum[TOGETHER] = {{0}};
    for (int key = 0; key < most; key++) {
      floats value = *(const floats *)(values + (Py_ssize_t)key * width + at);
      const float *share = (const float *)(shares + key / LANES * TOGETHER) + key % LANES;
      for (int row = 0; row < TOGETHER; row++) sum[row] += value * share[row * LANES];
    }
    for (int row = 0; row < TOGETHER; row++) {
      /* A zero's sign would tell whether there were keys beyond the row's sight. */
      *(floats *)(mixed[row] + at) = (sum[row] + 0.0f) * factor[row];
    }
  }
}

/* All rows of a pass. asking (rows, 2 D): their inputs, which are not looked at, and their queries; mixed (rows, D). */
static void NAMED(attend)(const Session *sessions, Py_ssize_t count, const float *asking, const int32_t *sight,
                          float *mixed, float *shares, float *asked) {
  for (Py_ssize_t number = 0; number < count; number++) {
    const Session *own = sessions + number;
    const Py_ssize_t whole_width = own->heads * own->width;
    for (int32_t group = 0; group < own->rows; group += TOGETHER)
      for (Py_ssize_t head = 0; head < own->heads; head++) {
        float *out[TOGETHER];
        int32_t sees[TOGETHER], most = 0;
        for (int row = 0; row < TOGETHER; row++) { /* the last one stands for those that a group lacks */
          const Py_ssize_t place = own->first + (group + row < own->rows ? group + row : own->rows - 1);
          const float *query = asking + place * 2 * whole_width + whole_width + head * own->width;
          for (Py_ssize_t at = 0; at < own->width; at++) asked[at * TOGETHER + row] = query[at];
          out[row] = mixed + place * whole_width + head * own->width;
          sees[row] = sight[place];
          most = sees[row] > most ? sees[row] : most;
        }
        const float *keys = own->keys + head * own->width * own->capacity;
        const float *values = own->values + head * own->width * own->capacity;
        if (own->width == 32) /* known to the compiler: half the time */
          attend_in_head(32, keys, values, own->capacity, asked, out, sees, most, (floats *)shares);
        else if (own->width == 64)
          attend_in_head(64, keys, values, own->capacity, asked, out, sees, most, (floats *)shares);
        else
          attend_in_head((int)own->width, keys, values, own->capacity, asked, out, sees, most, (floats *)shares);
      }
  }
}

/* Keep keys and values of rows: seen (rows, 2 D) has a row's keys and values side by side; starts: the place of each
   session's first row among what is kept of it. */
static void NAMED(keep_rows)(const Session *sessions, Py_ssize_t count, const float *seen, const int32_t *starts) {
  for (Py_ssize_t number = 0; number < count; number++) {
    const Session *own = sessions + number;
    const Py_ssize_t whole_width = own->heads * own->width;
    for (int32_t row = 0; row < own->rows; row++) {
      const Py_ssize_t place = starts[number] + row;
      const float *from = seen + (own->first + row) * 2 * whole_width;
      for (Py_ssize_t at = 0; at < whole_width; at += LANES) {
        const Py_ssize_t head = at / own->width, within = at % own->width;
        for (int lane = 0; lane < LANES; lane++) own->keys[(at + lane) * own->capacity + place] = from[at + lane];
        *(floats *)(own->values + (head * own->capacity + place) * own->width + within) =
            *(const floats *)(from + whole_width + at);
      }
    }
  }
}

#undef floats
#undef whole
#undef all
#undef chosen
#undef exponential
#undef attend_in_head
#undef LANES
#undef NAMED
