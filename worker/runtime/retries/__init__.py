"""Faults and parking, and how a step is found and tried that a broker refuses or our own code raises for."""
