"""A recording, captions or a text to a transcript in this process: no broker, no store."""
