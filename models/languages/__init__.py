"""A language is one file: the network's shape, what it learns from, its marks, how lines join, what it is scored on."""
