"""A models folder: manifest, vocabulary, heads."""
