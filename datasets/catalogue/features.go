package catalogue

import (
	"errors"
	"fmt"

	"iwda/datasets"
)

// features are vectors in files of the user's, whose names are the domains.
func features() Dataset {
	return Dataset{
		Name: "features", Title: "Features", Head: "features",
		Kind:     Vectors,
		Root:     "${IWDA_DATA:-data}/features",
		Settings: "network: {name: mlp, features: 256, layers: 1}\ntrain: {epochs: 20}",
		instructions: func(root string) string {
			return fmt.Sprintf("Your own: DOMAIN.npz or DOMAIN.safetensors with the arrays features (n×d) and labels (n), or DOMAIN-features.npy\n"+
				"and DOMAIN-labels.npy, for each domain of a task, in %s. The target's test set, if there is one, is DOMAIN-test.", root)
		},
		open: func(domain, split string, from Source) (datasets.Set, error) {
			if split == trainSplit {
				return datasets.ReadFeatures(from.Root, domain)
			}
			set, err := datasets.ReadFeatures(from.Root, domain+"-test")
			if missing := (*datasets.MissingFileError)(nil); errors.As(err, &missing) {
				return nil, nil
			}
			return set, err
		},
	}
}
