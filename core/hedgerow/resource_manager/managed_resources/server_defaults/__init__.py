"""Server defaults: the fields that an API server adds or normalises, so that they are no drift."""
