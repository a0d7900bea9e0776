package train

import (
	"fmt"

	"iwda/experiments/config"
	"iwda/nets"
	"iwda/nets/architecture"
)

// newNetwork makes the network of a run with that many classes; inputs is the size of
// a row, which only an mlp depends on. It returns the SHA-256 of the file of
// pretrained weights, empty where there is none.
func newNetwork(run config.Resolved, inputs, classes int) (network nets.Network, pretrainedSHA256 string, err error) {
	n := run.Network
	name, err := architecture.Parse(n.Name)
	if err != nil {
		return nil, "", err
	}
	settings := nets.Settings{
		Classes: classes,
		RowSize: inputs, HiddenLayers: n.Layers, HiddenSize: n.Features,
		Weights: n.Pretrained, Frozen: n.Frozen,
	}
	if n.Pretrained == config.NotPretrained {
		settings.Weights = ""
	}
	if network, pretrainedSHA256, err = nets.New(name, settings); err != nil {
		return nil, "", fmt.Errorf("network.pretrained: %w; or set it to %s to train from scratch", err, config.NotPretrained)
	}
	return network, pretrainedSHA256, nil
}
