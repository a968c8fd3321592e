"""Workers for tests: the real runtime on twins or on real parts, crashed on purpose."""
