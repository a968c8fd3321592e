/* Attention of many sessions' rows, each to its own session's keys, and the keeping of keys and values (ADR 0050).

   A row's result depends on the row, its keys and how many of them it sees, to the last bit: each is added up by itself,
   in the keys' order, sixteen sums at a time, and what a group of rows reads beyond a row's sight has no weight.

   Keys lie as (layers, heads, width of a head, capacity), values as (layers, heads, capacity, width of a head), so that
   sixteen keys, or sixteen numbers of a value, are read at once.

   Compiled for three kinds of x86 processor where the compiler can; the one that fits is taken at load. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

#if !defined(__x86_64__)
#define EACH_PROCESSOR
#elif defined(__gnu_linux__) && __GNUC__ >= 12 && !defined(__clang__)
#define EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#error "compiled for the oldest processors alone it would be slower than NumPy, which attends where this is not there"
#endif
#define INLINE static inline __attribute__((always_inline))

enum { LANES = 16, TOGETHER = 4 }; /* numbers of a vector; rows that are computed at a time */

typedef float floats __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t whole __attribute__((vector_size(64), aligned(4), may_alias));

static const float UNSEEN = -3e38f;

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

/* What a session's rows of a layer are computed with. rows: of the pass, from the first that is its. */
typedef struct {
  float *keys, *values;
  Py_ssize_t heads, width, capacity;
  int32_t first, rows;
} Session;

/* TOGETHER rows of a session in one head. asked: a number of each row, then the next of each; sight: how many keys a row
   sees, most: the most of them; shares: room for TOGETHER vectors a block of LANES keys. */
INLINE void attend_in_head(int width, const float *keys, const float *values, Py_ssize_t capacity, const float *asked,
                           float *const *mixed, const int32_t *sight, int most, floats *shares) {
  const whole lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const int blocks = (most + LANES - 1) / LANES;
  floats largest[TOGETHER];
  float factor[TOGETHER];
  for (int row = 0; row < TOGETHER; row++) largest[row] = all(UNSEEN);
  for (int block = 0; block < blocks; block++) {
    floats scores[TOGETHER] = {{0}};
    for (int at = 0; at < width; at++) {
      floats key = *(const floats *)(keys + at * capacity + block * LANES);
      for (int row = 0; row < TOGETHER; row++) scores[row] += key * asked[at * TOGETHER + row];
    }
    for (int row = 0; row < TOGETHER; row++) {
      floats seen = chosen(lane + block * LANES < sight[row], scores[row], all(UNSEEN));
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
    for (int row = 0; row < TOGETHER; row++) *(floats *)(mixed[row] + at) = sum[row] * factor[row];
  }
}

/* All rows of a pass. asking (rows, 2 D): their inputs, which are not looked at, and their queries; mixed (rows, D). */
EACH_PROCESSOR static void attend(const Session *sessions, Py_ssize_t count, const float *asking, const int32_t *sight,
                                  float *mixed, floats *shares, float *asked) {
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
          attend_in_head(32, keys, values, own->capacity, asked, out, sees, most, shares);
        else if (own->width == 64)
          attend_in_head(64, keys, values, own->capacity, asked, out, sees, most, shares);
        else
          attend_in_head((int)own->width, keys, values, own->capacity, asked, out, sees, most, shares);
      }
  }
}

/* Keep keys and values of rows: seen (rows, 2 D) has a row's keys and values side by side; starts: the place of each
   session's first row among what is kept of it. */
EACH_PROCESSOR static void keep_rows(const Session *sessions, Py_ssize_t count, const float *seen, const int32_t *starts) {
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

/* Read one layer's place in an array (layers, ...); NULL and ValueError where it is no such array. */
static float *layer_of(PyObject *array, Py_ssize_t layer, Py_ssize_t shape[3]) {
  Py_buffer view;
  float *found = NULL;
  if (PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) < 0) return NULL;
  if (view.ndim != 4 || view.itemsize != 4 || layer < 0 || layer >= view.shape[0]) {
    PyErr_SetString(PyExc_ValueError, "what is kept is no array (layers, heads, ., .) of single precision with that layer");
  } else {
    for (int axis = 0; axis < 3; axis++) shape[axis] = view.shape[axis + 1];
    found = (float *)view.buf + layer * shape[0] * shape[1] * shape[2];
  }
  PyBuffer_Release(&view); /* the lists hold the arrays */
  return found;
}

/* Read what sessions keep of a layer, and how many rows each has; NULL and an error where something does not fit.
   total: their rows in all; width: of a row; capacity: the most keys that a session has room for. */
static Session *read_sessions(PyObject *keys, PyObject *values, Py_ssize_t layer, const Py_buffer *rows, Py_ssize_t *total,
                              Py_ssize_t *width, Py_ssize_t *capacity) {
  const Py_ssize_t count = PyList_Check(keys) ? PyList_Size(keys) : -1;
  Session *sessions;
  *total = *width = *capacity = 0;
  if (count < 0 || !PyList_Check(values) || PyList_Size(values) != count || rows->len != count * 4) {
    PyErr_SetString(PyExc_ValueError, "keys, values and rows are not of as many sessions");
    return NULL;
  }
  if ((sessions = calloc((size_t)count + 1, sizeof(Session))) == NULL) return (Session *)PyErr_NoMemory();
  for (Py_ssize_t number = 0; number < count; number++) {
    Session *own = sessions + number;
    Py_ssize_t of_keys[3], of_values[3];
    own->keys = layer_of(PyList_GetItem(keys, number), layer, of_keys);
    own->values = own->keys == NULL ? NULL : layer_of(PyList_GetItem(values, number), layer, of_values);
    if (own->values == NULL) goto wrong;
    own->heads = of_keys[0], own->width = of_keys[1], own->capacity = of_keys[2];
    own->first = (int32_t)*total, own->rows = ((const int32_t *)rows->buf)[number];
    if (of_values[0] != own->heads || of_values[1] != own->capacity || of_values[2] != own->width || own->rows < 0 ||
        own->width % LANES || own->capacity % LANES || (number && own->heads * own->width != *width)) {
      PyErr_SetString(PyExc_ValueError, "keys and values do not fit one another");
      goto wrong;
    }
    *width = own->heads * own->width;
    *total += own->rows;
    if (own->capacity > *capacity) *capacity = own->capacity;
  }
  return sessions;
wrong:
  free(sessions);
  return NULL;
}

static int fits(const Py_buffer *numbers, Py_ssize_t count, const char *what) {
  if (numbers->itemsize == 4 && numbers->len == count * 4) return 1;
  PyErr_Format(PyExc_ValueError, "%s has %zd bytes, not %zd", what, numbers->len, count * 4);
  return 0;
}

static PyObject *mix(PyObject *module, PyObject *given) {
  Py_ssize_t layer, total, width, capacity;
  PyObject *keys, *values, *answer = NULL;
  Py_buffer rows, sight, asking, mixed;
  Session *sessions;
  (void)module;
  if (!PyArg_ParseTuple(given, "nOOy*y*y*w*", &layer, &keys, &values, &rows, &sight, &asking, &mixed)) return NULL;
  sessions = read_sessions(keys, values, layer, &rows, &total, &width, &capacity);
  if (sessions != NULL && fits(&sight, total, "sight") && fits(&asking, total * 2 * width, "asking") &&
      fits(&mixed, total * width, "mixed")) {
    const int32_t *sees = sight.buf;
    Py_ssize_t wrong = 0;
    for (Session *own = sessions; own < sessions + PyList_Size(keys); own++)
      for (int32_t row = own->first; row < own->first + own->rows; row++)
        wrong += sees[row] < 1 || sees[row] > own->capacity;
    const size_t room = (size_t)capacity * TOGETHER, numbers = (size_t)width * TOGETHER;
    float *shares = wrong ? NULL : aligned_alloc(64, ((room + numbers) * sizeof(float) + 127) / 64 * 64);
    if (wrong) {
      PyErr_SetString(PyExc_ValueError, "a row sees no key, or more than there are");
    } else if (shares == NULL) {
      PyErr_NoMemory();
    } else {
      Py_BEGIN_ALLOW_THREADS
      attend(sessions, PyList_Size(keys), asking.buf, sees, mixed.buf, (floats *)shares, shares + room);
      Py_END_ALLOW_THREADS
      free(shares);
      answer = Py_NewRef(Py_None);
    }
  }
  free(sessions);
  PyBuffer_Release(&rows), PyBuffer_Release(&sight), PyBuffer_Release(&asking), PyBuffer_Release(&mixed);
  return answer;
}

static PyObject *keep(PyObject *module, PyObject *given) {
  Py_ssize_t layer, total, width, capacity, wrong = 0;
  PyObject *keys, *values, *answer = NULL;
  Py_buffer rows, starts, seen;
  Session *sessions;
  (void)module;
  if (!PyArg_ParseTuple(given, "nOOy*y*y*", &layer, &keys, &values, &rows, &starts, &seen)) return NULL;
  sessions = read_sessions(keys, values, layer, &rows, &total, &width, &capacity);
  if (sessions != NULL && fits(&starts, PyList_Size(keys), "starts") && fits(&seen, total * 2 * width, "seen")) {
    const int32_t *from = starts.buf;
    for (Py_ssize_t number = 0; number < PyList_Size(keys); number++)
      wrong += from[number] < 0 || (Py_ssize_t)from[number] + sessions[number].rows > sessions[number].capacity;
    if (wrong) {
      PyErr_SetString(PyExc_ValueError, "there is no room for a session's rows");
    } else {
      Py_BEGIN_ALLOW_THREADS
      keep_rows(sessions, PyList_Size(keys), seen.buf, from);
      Py_END_ALLOW_THREADS
      answer = Py_NewRef(Py_None);
    }
  }
  free(sessions);
  PyBuffer_Release(&rows), PyBuffer_Release(&starts), PyBuffer_Release(&seen);
  return answer;
}

static PyMethodDef methods[] = {
    {"mix", mix, METH_VARARGS, "mix(layer, keys, values, rows, sight, asking, mixed): see row_kernels.pyi."},
    {"keep", keep, METH_VARARGS, "keep(layer, keys, values, rows, starts, seen): see row_kernels.pyi."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "row_kernels", "Attention over kept rows.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_row_kernels(void) { return PyModule_Create(&module); }
