"""What controllers of Gardener extensions share: the operations that an Extension asks for, and the heartbeat."""
