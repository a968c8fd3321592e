"""Faults on purpose: real brokers, a real Redis, many workers, and a checker that compares with the undisturbed run."""
