"""What all controllers share: plans, snapshots, declarations, selectors, patches and the syntax of Kubernetes."""
