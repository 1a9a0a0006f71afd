"""Answers an API server before it stores: admission reviews over HTTPS.

`server` answers HTTP requests within limits, `certificates` follows a folder, `exchange` turns bodies into answers
within a limit of memory, `reviewer` runs the webhooks, which decide.
"""
