"""Runs a declared controller against an API server: caches, queue, workers, executor.

Everything here works on any transport; nothing here decides what should exist.
"""
