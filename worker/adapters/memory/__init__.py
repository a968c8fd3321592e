"""The honest twins: broker, group, store and engine in memory, held to the contracts of the real ones."""
