"""Taking a partition over: the claim, reading Redis, the rebuild, the adoption of an offset."""
