"""What an API server makes of the objects that it is sent, and what therefore is no drift."""
