"""The published language of Caesura: events in, segments out, stored state. Imports nothing of ours."""
