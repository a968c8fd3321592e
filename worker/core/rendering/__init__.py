"""Text out of labelled words: marks, spaces, case, paragraphs, conversations."""
