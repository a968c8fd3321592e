/* The plan of a pass: what each layer computes of each session's buffer, and what its rows see (batch_plan.py).

   The rules are those of row_schedule.py, one buffer after another. Whatever a list says is checked before it is used: a
   place is read by Python's own functions, and no number of rows is taken to be what it was not counted as. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "row_arrays.h"

#define MOST_LAYERS 64
#define MOST_ROWS (1 << 24)

/* A network: look[k] words does layer k + 1 look ahead, ahead[k] all layers up to k together, and back words back. */
typedef struct {
  int layers;
  int32_t look[MOST_LAYERS], ahead[MOST_LAYERS + 1], back;
} Network;

/* A buffer, the words that were in at its last step, -1: none, and that labels behind first up to end are wanted. */
typedef struct {
  PyObject *ends, *word_of;
  Py_ssize_t words, done, first, end;
} Buffer;

/* What is final of each layer, what was before, and behind which row it stops to compute. */
typedef struct {
  int32_t final[MOST_LAYERS + 1], waited[MOST_LAYERS + 1], stop[MOST_LAYERS];
} Step;

/* How many rows the layers compute, what all of them together compute of words, and which see as the one before. */
typedef struct {
  Py_ssize_t rows[MOST_LAYERS + 1], layer_rows;
  char alike[MOST_LAYERS + 1];
} Counts;

static Py_ssize_t least(Py_ssize_t one, Py_ssize_t other) { return one < other ? one : other; }

/* Return a list's number at a place, 0 to MOST_ROWS; -1 and an error where there is none. */
static int32_t at(PyObject *list, Py_ssize_t place) {
  PyObject *number = PyList_GetItem(list, place);
  if (number == NULL) return -1;
  const long found = PyLong_CheckExact(number) ? PyLong_AsLong(number) : -1;
  if (found < 0 || found > MOST_ROWS) {
    PyErr_Clear();
    refused("a row or a word is no number that it can be");
    return -1;
  }
  return (int32_t)found;
}

static int read_network(PyObject *look_ahead, Py_ssize_t back, Network *network) {
  const Py_ssize_t layers = PyTuple_Check(look_ahead) ? PyTuple_Size(look_ahead) : 0;
  if (layers < 1 || layers > MOST_LAYERS) return refused("look_ahead is a tuple of 1 to 64 layers'") != NULL;
  network->layers = (int)layers, network->ahead[0] = 0, network->back = back < 0 ? -1 : (int32_t)least(back, MOST_ROWS);
  for (Py_ssize_t k = 0; k < layers; k++) {
    const long words = PyLong_AsLong(PyTuple_GetItem(look_ahead, k));
    if (words < 0 || words > MOST_ROWS / MOST_LAYERS)
      return PyErr_Occurred() ? 0 : refused("a layer looks 0 words ahead or more") != NULL;
    network->look[k] = (int32_t)words, network->ahead[k + 1] = network->ahead[k] + (int32_t)words;
  }
  return 1;
}

static int read_buffer(PyObject *given, Buffer *buffer) {
  PyObject *done;
  if (!PyTuple_Check(given)) return refused("a buffer is a tuple") != NULL;
  if (!PyArg_ParseTuple(given, "OOOnn", &buffer->ends, &buffer->word_of, &done, &buffer->first, &buffer->end)) return 0;
  if (!PyList_Check(buffer->ends) || !PyList_Check(buffer->word_of)) return refused("rows and words are lists") != NULL;
  buffer->words = PyList_Size(buffer->ends) - 1;
  buffer->done = done == Py_None ? -1 : PyLong_AsSsize_t(done);
  if (PyErr_Occurred()) return 0;
  if (buffer->words < 0 || buffer->words > MOST_ROWS || buffer->done > buffer->words || buffer->first < 0 ||
      buffer->first > buffer->end || buffer->end > buffer->words)
    return refused("words are wanted, or were in, that are not there") != NULL;
  return 1;
}

/* Return the row behind the last that is final where so many words are in and ahead of them are looked at. */
static int32_t final_row(const Buffer *buffer, Py_ssize_t words, int32_t ahead) {
  return words >= ahead ? at(buffer->ends, words - ahead) : 0;
}

/* Plan a buffer's step; 0 and an error where its lists are not those of a buffer, or a wanted row is gone. */
static int plan_step(const Network *network, const Buffer *buffer, Step *step) {
  const int layers = network->layers;
  const Py_ssize_t heard = buffer->end + network->ahead[layers];
  const int has_tail = buffer->first < buffer->end && heard > buffer->words;
  for (int k = 0; k <= layers; k++) {
    const int32_t ahead = network->ahead[k];
    const int32_t final = step->final[k] = final_row(buffer, buffer->words, ahead);
    const int32_t waited = step->waited[k] = buffer->done < 0 ? 0 : final_row(buffer, buffer->done, ahead);
    if (final < 0 || waited < 0) return 0;
    if (final < waited || (k && (final > step->final[k - 1] || waited > step->waited[k - 1])))
      return refused("rows do not ascend") != NULL;
    if (k == layers) break;
    const int32_t stop = step->stop[k] = has_tail ? at(buffer->ends, least(heard - ahead, buffer->words)) : final;
    if (stop < 0) return 0;
    if (stop < final || (k && stop > step->stop[k - 1])) return refused("rows do not ascend") != NULL;
  }
  if (buffer->first >= buffer->end) return 1;
  const int32_t before = at(buffer->ends, buffer->first + 1);
  if (before < 0) return 0;
  return before > step->waited[layers] || refused("a row is wanted that is gone") != NULL;
}

/* Return how many rows layer k computes; those of the last layer are the wanted words'. */
static Py_ssize_t computed(const Network *network, const Buffer *buffer, const Step *step, int k) {
  return k == network->layers ? buffer->end - buffer->first : step->stop[k] - step->waited[k];
}

/* Add a step to what all compute together. */
static int count(const Network *network, const Buffer *buffer, const Step *step, Counts *counts) {
  Py_ssize_t words = 0;
  for (int k = 0; k <= network->layers; k++) {
    const Py_ssize_t rows = computed(network, buffer, step, k);
    counts->rows[k] += rows;
    if (k == 0) continue;
    const int as_before = k > 1 && k < network->layers && network->look[k - 1] == network->look[k - 2] &&
                          step->waited[k] == step->waited[k - 1] && step->stop[k] == step->stop[k - 1];
    counts->alike[k] = counts->alike[k] && as_before;
    if (k == network->layers) {
      words = rows;
    } else if (!as_before) {
      words = 0;
      if (rows > 0) {
        const int32_t last = at(buffer->word_of, step->stop[k] - 1), from = at(buffer->word_of, step->waited[k]);
        if (last < 0 || from < 0) return 0;
        words = last - (from ? from : 1) + 1; /* the leading piece is no word */
      }
    }
    counts->layer_rows += words;
  }
  return 1;
}

/* Write what a layer takes in, asks and has wait of a session: see waiting_kernels.c. */
static void write_span(const Network *network, const Buffer *buffer, const Step *step, int k, int32_t *to) {
  const int32_t waited = step->waited[k + 1];
  to[0] = step->stop[k] - step->waited[k];
  to[1] = (int32_t)computed(network, buffer, step, k + 1);
  to[2] = step->final[k + 1] - waited;
  to[3] = step->final[k] - waited;
}

/* Write from where and up to where a word of layer k sees. */
static int write_sight(const Network *network, const Buffer *buffer, int k, Py_ssize_t word, int32_t *from, int32_t *to) {
  const Py_ssize_t unseen = network->back < 0 ? -1 : word - network->back - 1;
  *to = at(buffer->ends, least(word + network->look[k - 1], buffer->words));
  *from = unseen < 0 ? 1 : at(buffer->ends, unseen);
  return *to >= 0 && *from >= 0;
}

/* Write what layer k's rows see of their sessions: queries (S,), begins and ends (M,), as one piece of memory. */
static PyObject *sight(const Network *network, const Buffer *buffers, const Step *steps, Py_ssize_t sessions, int k,
                       Py_ssize_t rows) {
  PyObject *written = PyBytes_FromStringAndSize(NULL, (sessions + 2 * rows) * 4);
  if (written == NULL) return NULL;
  int32_t *queries = (int32_t *)PyBytes_AsString(written), *begins = queries + sessions, *ends = begins + rows;
  for (Py_ssize_t number = 0; number < sessions; number++) {
    const Buffer *buffer = buffers + number;
    const Py_ssize_t asked = computed(network, buffer, steps + number, k);
    queries[number] = (int32_t)asked;
    for (Py_ssize_t row = 0; row < asked; row++, begins++, ends++) {
      const Py_ssize_t word =
          k == network->layers ? buffer->first + 1 + row : at(buffer->word_of, steps[number].waited[k] + row);
      if (word < 0 || !write_sight(network, buffer, k, word, begins, ends)) {
        Py_DecRef(written);
        return NULL;
      }
    }
  }
  return written;
}

/* Return what each layer's rows see, None where all of them see as those of the layer before. */
static PyObject *sights(const Network *network, const Buffer *buffers, const Step *steps, Py_ssize_t sessions,
                        const Counts *counts) {
  PyObject *all = PyList_New(network->layers);
  for (int k = 1; all != NULL && k <= network->layers; k++) {
    PyObject *own = counts->alike[k] ? Py_NewRef(Py_None) : sight(network, buffers, steps, sessions, k, counts->rows[k]);
    if (own == NULL || PyList_SetItem(all, k - 1, own) < 0) {
      Py_DecRef(all);
      return NULL;
    }
  }
  return all;
}

/* Write layer by layer which rows each session computes (K, S, 2), and its spans (K, S, 4). */
static void write_layers(const Network *network, const Buffer *buffers, const Step *steps, Py_ssize_t sessions,
                         int32_t *places, int32_t *spans) {
  for (int k = 0; k < network->layers; k++)
    for (Py_ssize_t number = 0; number < sessions; number++, places += 2, spans += 4) {
      places[0] = steps[number].waited[k], places[1] = steps[number].stop[k];
      write_span(network, buffers + number, steps + number, k, spans);
    }
}

/* Write which rows enter, and which of those before the last layer are wanted, session after session. */
static int write_rows(const Network *network, const Buffer *buffers, const Step *steps, Py_ssize_t sessions,
                      int32_t *entering, int32_t *picks) {
  for (Py_ssize_t number = 0; number < sessions; number++) {
    const Buffer *buffer = buffers + number;
    for (int32_t row = steps[number].waited[0]; row < steps[number].stop[0]; row++) *entering++ = row;
    for (Py_ssize_t word = buffer->first + 1; word <= buffer->end; word++) {
      const int32_t behind = at(buffer->ends, word);
      if (behind < 0) return 0;
      *picks++ = behind - 1 - steps[number].waited[network->layers];
    }
  }
  return 1;
}

/* Write the first row that each session still needs, and how many of its rows wait (S, 2). */
static int write_left(const Network *network, const Buffer *buffers, const Step *steps, Py_ssize_t sessions, int32_t *to) {
  const int last = network->layers;
  for (Py_ssize_t number = 0; number < sessions; number++, to += 2) {
    const Py_ssize_t unseen = network->back < 0 ? 0 : buffers[number].words - network->ahead[last] - network->back;
    to[0] = at(buffers[number].ends, unseen < 0 ? 0 : unseen);
    to[1] = steps[number].final[0] - steps[number].final[last];
    if (to[0] < 0) return 0;
  }
  return 1;
}

/* Return (places, spans, entering, picks, left, sights, layer_rows). */
static PyObject *written(const Network *network, const Buffer *buffers, const Step *steps, Py_ssize_t sessions,
                         const Counts *counts) {
  const Py_ssize_t cells = network->layers * sessions;
  const Py_ssize_t sizes[] = {2 * cells, 4 * cells, counts->rows[0], counts->rows[network->layers], 2 * sessions};
  PyObject *parts[5] = {NULL}, *seen = NULL, *answer = NULL;
  int32_t *to[5];
  int good = 1;
  for (int part = 0; good && part < 5; part++) {
    parts[part] = PyBytes_FromStringAndSize(NULL, sizes[part] * 4);
    good = parts[part] != NULL;
    if (good) to[part] = (int32_t *)PyBytes_AsString(parts[part]);
  }
  if (good) {
    write_layers(network, buffers, steps, sessions, to[0], to[1]);
    good = write_rows(network, buffers, steps, sessions, to[2], to[3]) &&
           write_left(network, buffers, steps, sessions, to[4]) &&
           (seen = sights(network, buffers, steps, sessions, counts)) != NULL;
  }
  if (good)
    answer = Py_BuildValue("OOOOOOn", parts[0], parts[1], parts[2], parts[3], parts[4], seen, counts->layer_rows);
  for (int part = 0; part < 5; part++)
    if (parts[part] != NULL) Py_DecRef(parts[part]);
  if (seen != NULL) Py_DecRef(seen);
  return answer;
}

static PyObject *plan(PyObject *module, PyObject *given) {
  PyObject *look_ahead, *all, *answer = NULL;
  Py_ssize_t back;
  Network network;
  Counts counts = {{0}, 0, {0}};
  (void)module;
  if (!PyArg_ParseTuple(given, "OnO", &look_ahead, &back, &all)) return NULL;
  if (!PyList_Check(all)) return refused("buffers are a list");
  if (!read_network(look_ahead, back, &network)) return NULL;
  memset(counts.alike, 1, sizeof counts.alike);
  PyObject *kept = PyList_AsTuple(all); /* whatever a number's own code does to the list */
  if (kept == NULL) return NULL;
  const Py_ssize_t sessions = PyTuple_Size(kept);
  Buffer *buffers = PyMem_Calloc((size_t)sessions + 1, sizeof(Buffer));
  Step *steps = PyMem_Calloc((size_t)sessions + 1, sizeof(Step));
  int good = (buffers != NULL && steps != NULL) || PyErr_NoMemory() != NULL;
  for (Py_ssize_t number = 0; good && number < sessions; number++)
    good = read_buffer(PyTuple_GetItem(kept, number), buffers + number) &&
           plan_step(&network, buffers + number, steps + number) &&
           count(&network, buffers + number, steps + number, &counts);
  if (good) answer = written(&network, buffers, steps, sessions, &counts);
  PyMem_Free(buffers);
  PyMem_Free(steps);
  Py_DecRef(kept);
  return answer;
}

static PyMethodDef methods[] = {{"plan", plan, METH_VARARGS, "Plan a pass: see schedule_kernels.pyi."}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "schedule_kernels", "The plan of a pass.", -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_schedule_kernels(void) { return PyModule_Create(&module); }
