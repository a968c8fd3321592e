"""From words and labels to frozen segments: the buffer, the cuts, what is kept, silence."""
