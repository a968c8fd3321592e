"""One file a format that speech is written down in."""
