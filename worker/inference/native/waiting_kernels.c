/* Rows that have waited before a layer, and rows that are new to it, side by side; and those of them that wait on
   (waiting_rows.py). Nothing is computed: rows are copied, each once to be asked and once more where it waits. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "row_arrays.h"

/* What a session's span says: how many rows are new, how many are asked, and which wait on, of the rows that have waited
   and the new ones behind them. */
enum { NEW, ASKED, FROM, UNTIL, SPAN };

/* A session's rows: waited of them lie at old, the others at fresh; all are of size bytes. */
typedef struct {
  const char *old, *fresh;
  Py_ssize_t waited, there, size;
} Rows;

/* Copy the rows from one up to another; returns behind what was written. */
static char *copy(const Rows *rows, Py_ssize_t from, Py_ssize_t until, char *to) {
  if (from < rows->waited) {
    const Py_ssize_t stop = until < rows->waited ? until : rows->waited, length = (stop - from) * rows->size;
    memcpy(to, rows->old + from * rows->size, (size_t)length);
    to += length, from = stop;
  }
  if (from < until) {
    const Py_ssize_t length = (until - from) * rows->size;
    memcpy(to, rows->fresh + (from - rows->waited) * rows->size, (size_t)length);
    to += length;
  }
  return to;
}

/* Find what one session has before the layer; 0 and an error where it is none of ours. */
static int find(PyObject *waiting, Py_ssize_t layer, const int32_t *span, Py_ssize_t left, Rows *rows) {
  PyObject *old = PyList_Check(waiting) ? PyList_GetItem(waiting, layer) : refused("what waits of a session is a list");
  char *bytes;
  Py_ssize_t length;
  if (old == NULL || PyBytes_AsStringAndSize(old, &bytes, &length) < 0) return 0;
  if (length % rows->size || span[NEW] < 0 || span[NEW] > left)
    return refused("what waits is no whole row, or there are not as many new rows") != NULL;
  rows->old = bytes, rows->waited = length / rows->size, rows->there = rows->waited + span[NEW];
  if (span[ASKED] < 0 || span[FROM] < 0 || span[FROM] > span[UNTIL] || span[UNTIL] > rows->there)
    return refused("rows are to wait that are not there") != NULL;
  return 1;
}

/* Copy what one session asks; NULL and an error where a row is not there. picks: which rows, or NULL: the first ones. */
static char *ask(const Rows *rows, const int32_t *picks, Py_ssize_t asked, char *to) {
  if (picks == NULL) return asked > rows->there ? refused("rows are asked that are not there") : copy(rows, 0, asked, to);
  for (Py_ssize_t at = 0; at < asked; at++) {
    if (picks[at] < 0 || picks[at] >= rows->there) return refused("a row is asked that is not there");
    to = copy(rows, picks[at], picks[at] + 1, to);
  }
  return to;
}

static int wait_on(PyObject *waiting, Py_ssize_t layer, const Rows *rows, const int32_t *span) {
  PyObject *kept = PyBytes_FromStringAndSize(NULL, (span[UNTIL] - span[FROM]) * rows->size);
  if (kept == NULL) return 0;
  copy(rows, span[FROM], span[UNTIL], PyBytes_AsString(kept));
  return PyList_SetItem(waiting, layer, kept) == 0;
}

static int join_all(PyObject *sessions, Py_ssize_t layer, const Py_buffer *held) {
  const Py_buffer *fresh = held, *spans = held + 1, *asking = held + 2, *picked = held + 3;
  const int32_t *pick = picked->obj == NULL ? NULL : picked->buf;
  Rows rows = {.fresh = fresh->buf, .size = fresh->shape[1] * 4};
  Py_ssize_t left = fresh->shape[0], room = asking->shape[0];
  char *to = asking->buf;
  if (rows.size <= 0 || asking->shape[1] != fresh->shape[1] || spans->shape[1] != SPAN ||
      spans->shape[0] != PyList_Size(sessions) || (pick != NULL && picked->shape[0] != room))
    return refused("arrays do not fit one another") != NULL;
  for (Py_ssize_t number = 0; number < spans->shape[0]; number++) {
    PyObject *waiting = PyList_GetItem(sessions, number);
    int32_t span[SPAN]; /* a copy: what was checked stays what it was, wherever the answer is written */
    memcpy(span, (const int32_t *)spans->buf + number * SPAN, sizeof span);
    if (!find(waiting, layer, span, left, &rows)) return 0;
    if (span[ASKED] > room) return refused("more rows are asked than there is room for") != NULL;
    if ((to = ask(&rows, pick, span[ASKED], to)) == NULL || !wait_on(waiting, layer, &rows, span)) return 0;
    left -= span[NEW], room -= span[ASKED], rows.fresh += span[NEW] * rows.size;
    if (pick != NULL) pick += span[ASKED];
  }
  return (!left && !room) || refused("there are more rows than the sessions have") != NULL;
}

static PyObject *join(PyObject *module, PyObject *given) {
  Py_ssize_t layer;
  PyObject *sessions, *fresh, *spans, *picks, *asking;
  Py_buffer held[4] = {{0}};
  int good = 0;
  (void)module;
  if (!PyArg_ParseTuple(given, "nOOOOO", &layer, &sessions, &fresh, &spans, &picks, &asking)) return NULL;
  if (!PyList_Check(sessions)) return refused("sessions are a list");
  const int read = PyBUF_C_CONTIGUOUS, written = PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE;
  if (hold_array(held, fresh, "f", 2, read) && hold_array(held + 1, spans, "i", 2, read) &&
      hold_array(held + 2, asking, "f", 2, written) && (picks == Py_None || hold_array(held + 3, picks, "i", 1, read)))
    good = join_all(sessions, layer, held);
  for (int number = 0; number < 4; number++)
    if (held[number].obj != NULL) PyBuffer_Release(held + number);
  return good ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef methods[] = {{"join", join, METH_VARARGS, "Put rows side by side: see waiting_kernels.pyi."},
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "waiting_kernels", "Rows that wait before a layer.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_waiting_kernels(void) { return PyModule_Create(&module); }
