"""Labels out of words on a CPU: models, networks, the KV cache, attention and int8 products."""
