"""The command line and the wiring of one process per component."""
