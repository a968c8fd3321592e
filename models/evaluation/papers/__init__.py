"""The papers' systems on their own tables: what is trained for each, how it is labelled, and the tables."""
