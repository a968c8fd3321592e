"""What tests share: worlds, workers in processes, engines, builders of events, segments and networks, and real parts."""
