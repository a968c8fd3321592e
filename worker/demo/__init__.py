"""The show: sample sessions through embedded parts, in the terminal."""
