"""From a network to a models folder and back."""
