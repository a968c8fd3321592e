"""Overlays: texts that stand for runs of words in a rendering. Words and labels stay as they are. Pure."""
