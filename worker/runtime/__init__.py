"""The running worker: one loop thread that polls, labels, and takes checkpoints."""
