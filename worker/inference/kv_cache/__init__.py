"""Keys and values of sessions between two steps, and their memory."""
