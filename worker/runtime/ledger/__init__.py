"""Records that the runtime writes and reads back: output records, the ledger and its checks."""
