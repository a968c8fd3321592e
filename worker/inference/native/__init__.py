"""C sources of the compiled kernels, and their types."""
