"""What ManagedResources ask for, and how it is kept so."""
