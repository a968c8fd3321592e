"""The training loop and what it minimises."""
