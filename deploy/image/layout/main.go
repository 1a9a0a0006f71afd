// Writes an image, made of one archive for each layer, as an OCI layout.
//
//	layout TARGET CONFIG LAYER.tar...
//
// The history names each layer after its archive.
// CONFIG is the configuration of the image, without what follows from the layers.
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 4 {
		log.Fatal("usage: layout TARGET CONFIG LAYER.tar...")
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		log.Fatal(err)
	}
}

func write(target, config string, archives []string) error {
	image, err := configured(config)
	if err != nil {
		return err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return err
	}
	for _, archive := range archives {
		layer, err := tarball.LayerFromFile(archive, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(archive), ".tar")
		history := v1.History{Created: file.Created, CreatedBy: name}
		if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: history}); err != nil {
			return err
		}
	}
	written, err := layout.Write(target, empty.Index)
	if err != nil {
		return err
	}
	names := map[string]string{"org.opencontainers.image.ref.name": file.Config.Labels["org.opencontainers.image.version"]}
	return written.AppendImage(image, layout.WithAnnotations(names),
		layout.WithPlatform(v1.Platform{OS: file.OS, Architecture: file.Architecture}))
}

// configured is an image without layers.
func configured(path string) (v1.Image, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	config := &v1.ConfigFile{}
	if err := json.Unmarshal(content, config); err != nil {
		return nil, err
	}
	config.RootFS = v1.RootFS{Type: "layers"}
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	return mutate.ConfigFile(image, config)
}
