package train

import (
	"fmt"

	"iwda/experiments/config"
	"iwda/nets"
	"iwda/nets/architecture"
)

// newNetwork makes the network of a run, of rows of that shape and that many classes. It
// returns the SHA-256 of the file of pretrained weights or of the backbone, empty where
// there is none.
func newNetwork(run config.Resolved, rowShape []int, classes int) (network nets.Network, pretrainedSHA256 string, err error) {
	n := run.Network
	name, err := architecture.Parse(n.Name)
	if err != nil {
		return nil, "", err
	}
	settings := nets.Settings{
		Classes:  classes,
		RowShape: rowShape, HiddenLayers: n.Layers, HiddenSize: n.Features,
		Weights: n.Pretrained, Frozen: n.Frozen,
	}
	switch {
	case name == architecture.TorchScript:
		settings.Weights = n.File
	case n.Pretrained == config.NotPretrained:
		settings.Weights = ""
	}
	network, pretrainedSHA256, err = nets.New(name, settings)
	switch {
	case err == nil:
		return network, pretrainedSHA256, nil
	case name == architecture.TorchScript:
		return nil, "", fmt.Errorf("network.file: %w", err)
	}
	return nil, "", fmt.Errorf("network.pretrained: %w; or set it to %s to train from scratch", err, config.NotPretrained)
}
