"""The image in a container engine of this machine: built, and run confined."""
