"""What makes the image; these files run inside its build, with its own Python."""
