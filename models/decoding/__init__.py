"""Networks read as streams or in chunks, through the decoder that the worker runs."""
