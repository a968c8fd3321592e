"""Caesura's serving side: words in from Kafka, frozen labelled segments out."""
