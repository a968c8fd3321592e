"""Attention of many sessions' rows, compiled or by NumPy."""
