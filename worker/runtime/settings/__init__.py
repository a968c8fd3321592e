"""The runtime's settings, routes, adapters and deadlines."""
