"""Taking a partition over: the claim, what Redis holds of it, the rebuild, the adoption."""
