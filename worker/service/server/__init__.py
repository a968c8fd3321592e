"""The server under `serve` and `view`: sockets, authentication, limits, messages."""
