"""Services that show captions; each is a ``CaptionSink``."""
