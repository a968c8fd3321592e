"""Telemetry for operators: JSON lines on stdout, Prometheus metrics, liveness and readiness; no spoken words."""
