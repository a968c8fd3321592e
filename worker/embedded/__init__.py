"""Parts of our own: a redis-server as a child process, and a mock of Kafka, for the demo and for tests."""
