"""What is measured of labels and of decoding, and the tables made of it."""
