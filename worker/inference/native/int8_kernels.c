/* Products of rows with int8 weights, one activation scale a row, and what follows a product within a row (docs/engine.md).

   A row's result depends on the row alone, to the last bit, however many are computed beside it: a product is a sum of
   whole numbers, which has no order, and all else is done within the row, the same way wherever the row lies.

   Rows are turned into whole numbers of -127 to 127, as the stored graph turns them. Weights lie as (columns / 32, depth / 64,
   2, 16, 16, 4): 64 bytes are 16 columns, four of each after another in depth. They are 64 more than they are, for the
   instruction wants one factor without a sign: 64 times the sum of a row's numbers is taken off again.

   Whole numbers are multiplied on tiles (row_tiles.h) or by vectors; what follows is the same code for both. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "row_arrays.h"

#if !defined(__x86_64__) || !defined(__GNUC__) || __GNUC__ < 12 || defined(__clang__) || defined(__FAST_MATH__)
#error "it is written for AVX-512, AVX2 and GCC 12 or newer; without it ONNX Runtime multiplies"
#endif
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

/* Columns that are multiplied at a time, and their depth that lies together; what stored weights are more than they
   are; rows whose norms are taken together; the widest row; the most rows. */
enum { COLUMNS = 64, DEPTH = 64, TILE = 16, PART = 32, MORE = 64, NORMS = 4, MOST_WIDE = 1 << 16, MOST = 1 << 24 };

/* Floats of a cache line; how many rows before it is written to a row is asked for. */
enum { LINE = 16, ROWS_AHEAD = 6 };

/* What follows a product and its bias: nothing; GELU; the sum with another row, and the norm of that; nothing, and the bias is
   added to a product that was rounded, as ONNX Runtime has it. */
enum { PLAIN, OPENED, NORMED, ROUNDED };

/* Rows of floats, each contiguous. apart: floats from one to the next. */
typedef struct {
  float *first;
  Py_ssize_t count, width, apart;
} Matrix;

typedef struct {
  Matrix rows, out, further, added; /* further: where the columns behind those of out go; added: what NORMED adds */
  Py_ssize_t columns;
  const uint8_t *weights;
  const int32_t *most;
  const float *scales, *bias, *gain, *shift;
  int follows;
} Product;

/* Rows as whole numbers, and of each row its scale and what its sums have too much. starts, fits: for AVX2, see row_pairs.h. */
typedef struct {
  int8_t *bytes;
  float *scale;
  int32_t *offset, *starts;
  uint8_t *fits;
} Numbers;

/* A kind of processor, by how it multiplies. together: so many rows' 64 numbers lie side by side, then their next 64. */
typedef struct Kind {
  const char *name;
  void (*run)(const struct Kind *, const Product *, const Numbers *);
  void (*multiply_all)(const Product *, const Numbers *);
  int together;
} Kind;

#pragma GCC push_options
/* Each added by name: with arch= intrinsics are refused where CFLAGS ask for more than it has. */
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,movbe,f16c,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni")
#define LANES 16
#define NAMED(name) name##_v4
#include "row_product_arithmetic.h"
#include "row_tiles.h"
#undef LANES
#undef NAMED
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,movbe,f16c")
#define LANES 8
#define NAMED(name) name##_v3
#include "row_product_arithmetic.h"
#undef LANES
#undef NAMED
#pragma GCC pop_options

/* The best first. */
static const Kind KINDS[] = {{"amx-int8", run_v4, multiply_all_tiled, TILE},
                             {"avx512-vnni", run_v4, multiply_all_v4, 1},
                             {"avx2", run_v3, multiply_all_v3, 1}};
enum { ALL_KINDS = sizeof KINDS / sizeof KINDS[0] };
static const Kind *chosen_kind = NULL;

static int is_here(const Kind *kind) {
  if (kind->run == run_v3) return __builtin_cpu_supports("x86-64-v3");
  if (!__builtin_cpu_supports("x86-64-v4") || !__builtin_cpu_supports("avx512vnni")) return 0;
  return kind != KINDS || (__builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-int8") && tiles_are_lent());
}

/* A call's arrays, held until it ends. */
typedef struct {
  Py_buffer views[9];
  int held;
} Call;

static Py_buffer *hold(Call *call, PyObject *array, const char *number, int axes, int flags) {
  return hold_array(call->views + call->held, array, number, axes, flags) ? call->views + call->held++ : NULL;
}

static int hold_rows(Call *call, PyObject *array, Matrix *rows, int flags) {
  const Py_buffer *view = hold(call, array, "f", 2, PyBUF_STRIDES | flags);
  if (view == NULL) return 0;
  const Py_ssize_t count = view->shape[0], width = view->shape[1], step = view->strides[0];
  if (count > MOST || width < COLUMNS || width > MOST_WIDE || width % COLUMNS || view->strides[1] != 4 || step % 4 || step < width * 4)
    return refused("rows are too many, of a width that is not computed with, or not contiguous") != NULL;
  *rows = (Matrix){view->buf, count, width, step / 4};
  return 1;
}

static const void *hold_numbers(Call *call, PyObject *array, const char *number, Py_ssize_t count) {
  const Py_buffer *view = hold(call, array, number, 1, PyBUF_C_CONTIGUOUS);
  if (view != NULL && view->len != count * 4) view = refused("there are not as many numbers as are asked for");
  return view == NULL ? NULL : view->buf;
}

static int hold_product(Call *call, Product *product, PyObject *const *given) {
  const int splits = product->follows != NORMED && given[6] != NULL;
  if (!hold_rows(call, given[0], &product->rows, 0) || !hold_rows(call, given[5], &product->out, PyBUF_WRITABLE) ||
      (splits && !hold_rows(call, given[6], &product->further, PyBUF_WRITABLE)))
    return 0;
  const Py_ssize_t columns = product->columns = product->out.width + product->further.width;
  const Py_buffer *weights = hold(call, given[1], "B", 5, PyBUF_C_CONTIGUOUS);
  if (weights == NULL) return 0;
  product->weights = weights->buf;
  if (weights->shape[0] * 2 * TILE != columns || weights->shape[1] * DEPTH != product->rows.width || weights->shape[2] != 2 ||
      weights->shape[3] != TILE || weights->shape[4] != 4 * TILE || product->out.count != product->rows.count ||
      (splits && product->further.count != product->rows.count))
    return refused("rows, weights and what comes out do not fit one another") != NULL;
  if ((product->most = hold_numbers(call, given[2], "i", product->rows.width / PART)) == NULL ||
      (product->scales = hold_numbers(call, given[3], "f", columns)) == NULL ||
      (product->bias = hold_numbers(call, given[4], "f", columns)) == NULL)
    return 0;
  if (product->follows != NORMED) return 1;
  if (!hold_rows(call, given[6], &product->added, 0)) return 0;
  if (product->added.count != product->rows.count || product->added.width != columns)
    return refused("what is added does not fit what comes out") != NULL;
  return (product->gain = hold_numbers(call, given[7], "f", columns)) != NULL &&
         (product->shift = hold_numbers(call, given[8], "f", columns)) != NULL;
}

static PyObject *computed(PyObject *given, int follows) {
  Call call = {0};
  Product product = {.follows = follows};
  PyObject *arrays[9] = {NULL}, *done = NULL;
  int8_t *room = NULL;
  const Py_ssize_t count = PyTuple_Size(given);
  const Kind *kind = chosen_kind;
  if (follows == NORMED ? count != 9 : count != 6 && count != 7) {
    PyErr_SetString(PyExc_TypeError, "it takes as many arrays as int8_kernels.pyi says");
    return NULL;
  }
  for (Py_ssize_t number = 0; number < count; number++) arrays[number] = PyTuple_GetItem(given, number);
  if (kind == NULL)
    refused("it was not compiled for this kind of processor");
  else if (hold_product(&call, &product, arrays)) {
    const size_t rows = ((size_t)product.rows.count + TILE) / TILE * TILE, depth = (size_t)product.rows.width;
    if ((room = aligned_alloc(DEPTH, rows * (8 + depth + depth / 8 + depth / 16))) == NULL)
      PyErr_NoMemory();
    else {
      Py_BEGIN_ALLOW_THREADS
      const Numbers numbers = {.scale = (float *)room,
                               .offset = (int32_t *)room + rows,
                               .starts = (int32_t *)room + rows * 2,
                               .bytes = room + rows * (8 + depth / 8),
                               .fits = (uint8_t *)room + rows * (8 + depth / 8 + depth)};
      kind->run(kind, &product, &numbers);
      Py_END_ALLOW_THREADS
      done = Py_NewRef(Py_None);
    }
  }
  free(room);
  for (int number = 0; number < call.held; number++) PyBuffer_Release(call.views + number);
  return done;
}

static PyObject *plain(PyObject *module, PyObject *given) {
  (void)module;
  return computed(given, PLAIN);
}

static PyObject *rounded(PyObject *module, PyObject *given) {
  (void)module;
  return computed(given, ROUNDED);
}

static PyObject *gelu(PyObject *module, PyObject *given) {
  (void)module;
  return computed(given, OPENED);
}

static PyObject *normed(PyObject *module, PyObject *given) {
  (void)module;
  return computed(given, NORMED);
}

#include "row_kinds.h"

static PyMethodDef methods[] = {{"plain", plain, METH_VARARGS, "Multiply and add the bias: see int8_kernels.pyi."},
                                {"rounded", rounded, METH_VARARGS, "The same, the product rounded first."},
                                {"gelu", gelu, METH_VARARGS, "The same, then GELU."},
                                {"normed", normed, METH_VARARGS, "The same, added to other rows, then the norm."},
                                {"kinds", kinds, METH_NOARGS, "Return the kinds of processor that this one is."},
                                {"choose", choose, METH_VARARGS, "Compute as for a kind of processor, for tests."},
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "int8_kernels", "Products of rows.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_int8_kernels(void) {
  choose_best();
  return PyModule_Create(&module);
}
