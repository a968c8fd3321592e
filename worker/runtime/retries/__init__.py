"""Faults, parking, and the search for a step that a broker refuses or that makes our own code raise."""
