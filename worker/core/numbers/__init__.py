"""Numbers as they are spoken, in English and Chinese."""
