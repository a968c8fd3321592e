"""Turns words and labels into frozen segments: the buffer, cuts, kept words, silence."""
