"""The registration of extensions: which of them a seed needs, what is installed there, and what shoots ask of them."""
