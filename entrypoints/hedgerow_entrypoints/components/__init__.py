"""What each component consists of: declarations out of which commands and processes are made."""
