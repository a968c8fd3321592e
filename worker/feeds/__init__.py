"""Turns recorded speech and recognisers' messages into word events."""
