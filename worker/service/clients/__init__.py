"""Clients that send words: reading, labelling, answering."""
