"""Which rows a step computes, layer by layer."""
