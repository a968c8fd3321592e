"""Clients that watch: sessions of a topic on the live page."""
