"""The steps of a ManagedResource's reconciliation, one module each, and the record that they all look at."""
