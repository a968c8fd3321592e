/* Which kind of processor a module computes for; whoever includes it has KINDS, the best first, each with a name, ALL_KINDS
   of them, chosen_kind, and is_here, which tells whether this processor is of a kind. */

static void choose_best(void) {
  for (int kind = ALL_KINDS - 1; kind >= 0; kind--)
    if (is_here(KINDS + kind)) chosen_kind = KINDS + kind;
}

static PyObject *kinds(PyObject *module, PyObject *nothing) {
  PyObject *names = PyList_New(0);
  (void)module, (void)nothing;
  for (const Kind *kind = KINDS; names != NULL && kind < KINDS + ALL_KINDS; kind++) {
    if (!is_here(kind)) continue;
    PyObject *name = PyUnicode_FromString(kind->name);
    if (name == NULL || PyList_Append(names, name) < 0) Py_CLEAR(names);
    Py_XDECREF(name);
  }
  return names;
}

static PyObject *choose(PyObject *module, PyObject *given) {
  const char *name;
  (void)module;
  if (!PyArg_ParseTuple(given, "s", &name)) return NULL;
  for (const Kind *kind = KINDS; kind < KINDS + ALL_KINDS; kind++)
    if (is_here(kind) && !strcmp(kind->name, name)) {
      chosen_kind = kind;
      return Py_NewRef(Py_None);
    }
  PyErr_SetString(PyExc_ValueError, "this processor is not of that kind");
  return NULL;
}
