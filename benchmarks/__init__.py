"""How fast and how small hedgerow is; `python -m benchmarks` prints the figures that docs/performance.md explains."""
