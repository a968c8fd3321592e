"""Segments as captions: cues within a broadcaster's limits, the files they are written in, the services they go to."""
