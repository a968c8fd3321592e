"""Caesura over WebSocket, without Kafka: words in, segments and tentative words out; and the live page."""
