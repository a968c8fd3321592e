"""The chart on real nodes: kubelets and containerds, with Kafka, Redis and the workers in pods."""
