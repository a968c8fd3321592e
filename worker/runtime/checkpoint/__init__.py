"""A checkpoint's value, its commit, and its save to Redis afterwards."""
