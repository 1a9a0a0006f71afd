"""What a process tells people and machines about itself: log lines and metrics.

`logs` makes every line, those of libraries included, one JSON object or one readable line, and gives all lines of one
reconciliation the same `reconcileID`. `metrics` holds the numbers under the names that operators of controller-runtime
know. `controller`, `webhooks` and `troubles` turn what others report into both; they decide what is worth a line.
"""
