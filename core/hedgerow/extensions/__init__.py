"""What controllers of Gardener extensions share: an operation from its request to its end, and the heartbeat."""
