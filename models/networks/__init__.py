"""Networks, one readable file each."""
