"""In-memory adapters: broker, group, store and engine. They pass the same contract suites as the real ones."""
