"""The engine against FunASR's streaming punctuation, on the same text, labels and segments."""
