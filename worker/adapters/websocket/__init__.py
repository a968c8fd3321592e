"""WebSocket, as a client: a recogniser's messages in, audio out."""
