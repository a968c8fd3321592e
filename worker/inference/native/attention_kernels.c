/* Attention of many sessions' rows, each to its own session's keys, and the keeping of keys and values (docs/engine.md).

   Where all numbers are finite, a row's result depends on the row, its keys and how many of them it sees, to the last bit:
   each is added up by itself, in the keys' order, a vector of sums at a time, and what is beyond its sight has no weight.

   Rows lie in blocks (kv_blocks.py): each begins with the leading piece's row, which all rows see, and has 15 others; of a
   layer it has each head's keys as (width of a head, rows of the block), then each head's values as (rows, width), so that a
   vector of keys, or of a value's numbers, is read at once. A row's place is its number among those of all blocks of its
   session. They are kept in half precision (docs/engine.md), and computed with in single. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "row_arrays.h"

#if defined(__i386__) || defined(__FAST_MATH__)
#error "sums are not the same wherever they are computed; without it the engine attends by NumPy"
#endif
#define INLINE static inline __attribute__((always_inline))

/* Rows that are computed at a time; rows of a block; what widths are multiples of, and the most that they, and rows, are. */
enum { TOGETHER = 4, BLOCK = 16, VECTOR = 16, LINE = 32, MOST_WIDE = 1 << 12, MOST = 1 << 24 };

#if defined(__x86_64__)
typedef uint16_t half;
#else
typedef _Float16 half;
#endif

/* What a session's rows of a layer are computed with: its blocks, in order. capacity: how many rows they hold. rows: of the
   pass, from the first that is its. least, most: the places from which on and up to which they are looked at by any. */
typedef struct {
  half *const *blocks;
  Py_ssize_t heads, width;
  int32_t capacity, first, rows, least, most;
} Session;

/* Where a row lies. */
INLINE int32_t place_of(int32_t row) { return row + (row > 0 ? (row - 1) / (BLOCK - 1) : 0); }

/* Where the last of the rows lies that a row sees, and where its view begins; a row that sees the leading piece's alone, which
   is first in every block, begins there. */
INLINE int32_t last_seen(int32_t sight) { return place_of(sight - 1); }
INLINE int32_t first_seen(int32_t since, int32_t sight) {
  return place_of(since) < last_seen(sight) ? place_of(since) : last_seen(sight);
}

#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#include <immintrin.h>
#pragma GCC push_options
/* Each added by name: with arch= intrinsics are refused where CFLAGS ask for more than it has. */
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,movbe,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")
#define LANES 16
#define NAMED(name) name##_v4
#include "row_arithmetic.h"
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,movbe,f16c")
#define LANES 8
#define NAMED(name) name##_v3
#include "row_arithmetic.h"
#pragma GCC pop_options
#elif defined(__x86_64__)
#error "GCC 12 or newer is needed; without it the engine attends by NumPy"
#else
#if defined(__aarch64__)
#include <arm_neon.h>
#endif
#define LANES 4
#define NAMED(name) name##_any
#include "row_arithmetic.h"
#endif

/* What there is for a kind of processor, the best first. */
typedef struct {
  const char *name;
  void (*attend)(const Session *, Py_ssize_t, const float *, const int32_t *, const int32_t *, float *, float *);
  int (*keep_rows)(const Session *, Py_ssize_t, const float *, const int32_t *);
} Kind;

static const Kind KINDS[] = {
#if defined(__x86_64__)
    {"x86-64-v4", attend_v4, keep_rows_v4},
    {"x86-64-v3", attend_v3, keep_rows_v3},
#else
    {"any", attend_any, keep_rows_any},
#endif
};
enum { ALL_KINDS = sizeof KINDS / sizeof KINDS[0] };
static const Kind *chosen_kind = NULL;

static int is_here(const Kind *kind) {
#if defined(__x86_64__)
  return kind == KINDS ? __builtin_cpu_supports("x86-64-v4") : __builtin_cpu_supports("x86-64-v3");
#else
  (void)kind;
  return 1;
#endif
}

/* A call's arrays, held until it ends. */
typedef struct {
  Py_ssize_t count, total, width; /* sessions; rows in all; of a row */
  Session *sessions;
  half **blocks;
  Py_buffer *held;
  Py_ssize_t holding;
} Call;

static Py_buffer *hold(Call *call, PyObject *array, const char *number, int axes, int written) {
  const int flags = PyBUF_C_CONTIGUOUS | (written ? PyBUF_WRITABLE : 0);
  return hold_array(call->held + call->holding, array, number, axes, flags) ? call->held + call->holding++ : NULL;
}

/* As hold, of a number each, count of them or, where that is below 0, as many as there are; what is there is copied, so
   that nobody changes it after it was checked. */
static int32_t *copied(Call *call, PyObject *array, Py_ssize_t count, Py_ssize_t *found) {
  const Py_buffer *view = hold(call, array, "i", 1, 0);
  if (view == NULL) return NULL;
  if (count >= 0 && view->len != count * 4) return refused("there are not as many numbers as are asked for");
  if (found != NULL) *found = view->len / 4;
  int32_t *own = malloc((size_t)view->len + 1);
  if (own == NULL) return (int32_t *)PyErr_NoMemory();
  return memcpy(own, view->buf, (size_t)view->len);
}

static float *rows_of(Call *call, PyObject *array, Py_ssize_t width, int written) {
  const Py_buffer *view = hold(call, array, "f", 2, written);
  if (view == NULL) return NULL;
  if (view->shape[0] != call->total || view->shape[1] != width) return refused("there are not as many rows, or not as wide");
  return view->buf;
}

/* Find where each numbered block's part of a layer begins in the slabs; 0 and an error where there is none. */
static int find_blocks(Call *call, PyObject *slabs, const int32_t *numbers, Py_ssize_t count, Py_ssize_t layer, Session *shape) {
  const Py_ssize_t there = PyTuple_Size(slabs);
  Py_ssize_t each = 0, part = 0, layers = 0;
  for (Py_ssize_t slab = 0; slab < there; slab++) {
    const Py_buffer *view = hold(call, PyTuple_GetItem(slabs, slab), "e", 5, 1);
    if (view == NULL) return 0;
    const Py_ssize_t heads = view->shape[3], width = view->shape[4] / BLOCK;
    if (view->shape[0] < 1 || view->shape[0] > MOST || layer >= view->shape[1] || view->shape[2] != 2 || heads < 1 ||
        heads > MOST_WIDE || width < VECTOR || width > MOST_WIDE || width % VECTOR || view->shape[4] % BLOCK ||
        (slab && (view->shape[0] != each || view->shape[1] != layers || heads != shape->heads || width != shape->width)))
      return refused("slabs do not fit one another, or there is no such layer") != NULL;
    each = view->shape[0], layers = view->shape[1], shape->heads = heads, shape->width = width;
  }
  part = 2 * shape->heads * shape->width * BLOCK;
  for (Py_ssize_t at = 0; at < count; at++) {
    if (numbers[at] < 0 || numbers[at] >= there * each) return refused("there is no such block") != NULL;
    call->blocks[at] = (half *)call->held[numbers[at] / each].buf + ((numbers[at] % each) * layers + layer) * part;
  }
  call->width = shape->heads * shape->width;
  return 1;
}

/* Say of each session which blocks and which rows of the pass are its. */
static int read_sessions(Call *call, const Session *shape, const int32_t *blocks, const int32_t *rows, Py_ssize_t all_blocks) {
  Py_ssize_t first = 0;
  for (Py_ssize_t number = 0; number < call->count; number++) {
    Session *own = call->sessions + number;
    if (blocks[number] < 0 || blocks[number] > MOST / BLOCK || first + blocks[number] > all_blocks)
      return refused("there are not as many blocks as the sessions have") != NULL;
    if (rows[number] < 0 || rows[number] > MOST || call->total + rows[number] > MOST)
      return refused("there are fewer rows than none, or too many") != NULL;
    *own = *shape;
    own->blocks = call->blocks + first, own->capacity = blocks[number] * (BLOCK - 1) + (blocks[number] > 0);
    own->first = (int32_t)call->total, own->rows = rows[number];
    first += blocks[number], call->total += rows[number];
  }
  return first == all_blocks || refused("there are more blocks than the sessions have") != NULL;
}

/* Read where sessions' rows of a layer lie, and how many each has in the pass; 0 and an error where something does not
   fit. slabs are held first: a slab's buffer has its own number. */
static int begin(Call *call, Py_ssize_t layer, PyObject *slabs, PyObject *blocks, PyObject *counts, PyObject *rows) {
  PyObject *all = PySequence_Tuple(slabs);
  int32_t *numbers = NULL, *of_each = NULL, *rows_of_each = NULL;
  Py_ssize_t found = 0;
  Session shape = {0};
  Call few = {0};
  Py_buffer held[2] = {{0}};
  int good = 0;
  few.held = held;
  if (all == NULL) return 0;
  if (chosen_kind == NULL || layer < 0 || PyTuple_Size(all) < 1) {
    refused(chosen_kind == NULL ? "it was not compiled for this kind of processor" : "there is no such layer, or no slab");
    goto end;
  }
  if ((numbers = copied(&few, blocks, -1, &found)) == NULL || (of_each = copied(&few, counts, -1, &call->count)) == NULL) goto end;
  call->sessions = calloc((size_t)call->count + 1, sizeof(Session));
  call->blocks = calloc((size_t)found + 1, sizeof(half *));
  call->held = calloc((size_t)PyTuple_Size(all) + 8, sizeof(Py_buffer));
  if (call->sessions == NULL || call->blocks == NULL || call->held == NULL) {
    PyErr_NoMemory();
    goto end;
  }
  good = find_blocks(call, all, numbers, found, layer, &shape) &&
         (rows_of_each = copied(call, rows, call->count, NULL)) != NULL &&
         read_sessions(call, &shape, of_each, rows_of_each, found);
end:
  for (Py_ssize_t number = 0; number < few.holding; number++) PyBuffer_Release(held + number);
  free(numbers), free(of_each), free(rows_of_each);
  Py_DECREF(all);
  return good;
}

static void end(Call *call) {
  for (Py_ssize_t number = 0; number < call->holding; number++) PyBuffer_Release(call->held + number);
  free(call->held), free(call->sessions), free(call->blocks);
}

static PyObject *mix(PyObject *module, PyObject *given) {
  Call call = {0};
  Py_ssize_t layer;
  PyObject *slabs, *blocks, *counts, *rows, *from, *seen, *asked, *answers, *done = NULL;
  int32_t *since = NULL, *sight = NULL;
  float *room = NULL, *asking, *mixed;
  (void)module;
  if (!PyArg_ParseTuple(given, "nOOOOOOOO", &layer, &slabs, &blocks, &counts, &rows, &from, &seen, &asked, &answers)) return NULL;
  if (!begin(&call, layer, slabs, blocks, counts, rows) || (since = copied(&call, from, call.total, NULL)) == NULL ||
      (sight = copied(&call, seen, call.total, NULL)) == NULL ||
      (asking = rows_of(&call, asked, 2 * call.width, 0)) == NULL || (mixed = rows_of(&call, answers, call.width, 1)) == NULL)
    goto end;
  int32_t most = 0;
  for (Session *own = call.sessions; own < call.sessions + call.count; own++)
    for (int32_t row = own->first; row < own->first + own->rows; row++) {
      if (since[row] < 1 || since[row] >= sight[row] + (sight[row] == 1) || sight[row] > own->capacity) {
        refused("a row sees no key, or more than there are");
        goto end;
      }
      const int32_t from = first_seen(since[row], sight[row]), stop = last_seen(sight[row]) + 1;
      own->least = row == own->first || from < own->least ? from : own->least;
      own->most = stop > own->most ? stop : own->most;
      most = stop > most ? stop : most;
    }
  if ((room = aligned_alloc(64, (size_t)(most + VECTOR + BLOCK) / BLOCK * BLOCK * 2 * TOGETHER * sizeof(float))) == NULL) {
    PyErr_NoMemory();
    goto end;
  }
  const Kind *kind = chosen_kind;
  Py_BEGIN_ALLOW_THREADS
  kind->attend(call.sessions, call.count, asking, since, sight, mixed, room);
  Py_END_ALLOW_THREADS
  done = Py_NewRef(Py_None);
end:
  free(room), free(since), free(sight);
  end(&call);
  return done;
}

static PyObject *keep(PyObject *module, PyObject *given) {
  Call call = {0};
  Py_ssize_t layer;
  PyObject *slabs, *blocks, *counts, *rows, *places, *read, *done = NULL;
  int32_t *starts = NULL;
  float *seen;
  int finite;
  (void)module;
  if (!PyArg_ParseTuple(given, "nOOOOOO", &layer, &slabs, &blocks, &counts, &rows, &places, &read)) return NULL;
  if (!begin(&call, layer, slabs, blocks, counts, rows) || (starts = copied(&call, places, call.count, NULL)) == NULL ||
      (seen = rows_of(&call, read, 2 * call.width, 0)) == NULL)
    goto end;
  for (Py_ssize_t number = 0; number < call.count; number++)
    if (starts[number] < 0 || starts[number] > call.sessions[number].capacity - call.sessions[number].rows) {
      refused("there is no room for a session's rows");
      goto end;
    }
  const Kind *kind = chosen_kind;
  Py_BEGIN_ALLOW_THREADS
  finite = kind->keep_rows(call.sessions, call.count, seen, starts);
  Py_END_ALLOW_THREADS
  if (finite) done = Py_NewRef(Py_None);
  else PyErr_SetString(PyExc_ArithmeticError, "a number to keep is not finite in half precision");
end:
  free(starts);
  end(&call);
  return done;
}

#include "row_kinds.h"

static PyMethodDef methods[] = {{"attend", mix, METH_VARARGS, "Attend: see attention_kernels.pyi."},
                                {"keep", keep, METH_VARARGS, "Keep keys and values: see attention_kernels.pyi."},
                                {"kinds", kinds, METH_NOARGS, "Return the kinds of processor that this one is."},
                                {"choose", choose, METH_VARARGS, "Compute as for a kind of processor, for tests."},
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "attention_kernels", "Attention over kept rows.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_attention_kernels(void) {
  choose_best();
  return PyModule_Create(&module);
}
