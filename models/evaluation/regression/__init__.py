"""Sentences of our own that the shipped models should label well, and what they make of them today."""
