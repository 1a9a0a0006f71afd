"""What is written in place of a live object, and whether it has to be."""
