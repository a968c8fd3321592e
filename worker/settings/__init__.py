"""How settings are read: which there are, where a value comes from, what was meant by a mistyped name."""
