"""A CT-Transformer run over whole buffers, or row by row as a stream."""
