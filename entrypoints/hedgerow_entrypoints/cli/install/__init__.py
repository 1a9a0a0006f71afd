"""`hedgerow install`: the objects of an installation, without Helm, and the files that the Helm chart renders from."""
