"""Data readers: corpora in, aligned documents (word, mark, disfluency tag) out."""
