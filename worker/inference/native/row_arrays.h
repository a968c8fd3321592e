/* What a compiled module asks of the arrays that it is handed; included behind Python.h and string.h. */

static void *refused(const char *why) {
  PyErr_SetString(PyExc_ValueError, why);
  return NULL;
}

/* Hold an array's buffer as flags ask for it; 0 and an error where it is not of that kind of number, or of so many axes. */
static inline int hold_array(Py_buffer *view, PyObject *array, const char *number, int axes, int flags) {
  const Py_ssize_t size = *number == 'B' ? 1 : *number == 'e' ? 2 : 4;
  if (PyObject_GetBuffer(array, view, PyBUF_FORMAT | flags) < 0) return 0;
  const int named = view->format != NULL && (!strcmp(view->format, number) || (*number == 'i' && !strcmp(view->format, "l")));
  if (named && view->itemsize == size && view->ndim == axes && (uintptr_t)view->buf % (size_t)size == 0) return 1;
  PyBuffer_Release(view);
  return refused("an array is not of the type and the axes that are asked for") != NULL;
}
