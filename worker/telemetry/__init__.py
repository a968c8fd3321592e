"""What an operator sees: JSON lines on stdout, Prometheus metrics, liveness and readiness. No word's text in any."""
