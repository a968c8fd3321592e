"""Reads settings: their names, the sources of their values, suggestions for mistyped names."""
