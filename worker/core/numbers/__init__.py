"""Numbers as they are spoken, by language."""
