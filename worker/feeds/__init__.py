"""Recorded speech back into word events: for trying out, for the demo, for benchmarks."""
