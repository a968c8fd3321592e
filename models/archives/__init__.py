"""Packed text and weights made small, for a machine with a GPU that is reached by little at a time."""
