"""One file a recogniser: its messages, as its public documentation describes them, read as hypotheses."""
