//go:build tools

// Package helm pins the command that build.py builds from another module.
package helm

import (
	_ "helm.sh/helm/v3/cmd/helm"
)
