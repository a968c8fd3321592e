"""What tests share: worlds, workers in processes, engines, builders, waiting, and real parts."""
