/* What a compiled module asks of the arrays that it is handed; included behind Python.h and string.h. */

static void *refused(const char *why) {
  PyErr_SetString(PyExc_ValueError, why);
  return NULL;
}

/* Tell whether a held array is of that kind of number, of so many bytes each and in their place, and of so many axes. */
static inline int is_of(const Py_buffer *view, const char *number, Py_ssize_t size, int axes) {
  const int named = view->format != NULL && (!strcmp(view->format, number) || (*number == 'i' && !strcmp(view->format, "l")));
  return named && view->itemsize == size && view->ndim == axes && (uintptr_t)view->buf % (size_t)size == 0;
}
