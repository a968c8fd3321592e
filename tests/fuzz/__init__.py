"""Whatever a producer could send: raw bytes and events that are almost right, offline and through a live worker."""
