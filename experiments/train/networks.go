package train

import (
	"fmt"
	"strconv"
	"strings"

	"iwda/experiments/config"
	"iwda/nets"
)

// newNetwork makes the network of a run with that many classes; inputs is the size of
// a row, which only an mlp depends on. It returns the SHA-256 of the file of
// pretrained weights, empty where there is none.
func newNetwork(run config.Resolved, inputs, classes int) (network nets.Network, weightsSHA256 string, err error) {
	n := run.Network
	switch {
	case n.Name == "lenet":
		return nets.NewLeNet(classes), "", nil
	case n.Name == "mlp":
		hidden := make([]int, n.Layers-1)
		for i := range hidden {
			hidden[i] = n.Features
		}
		const dropout = 0.5
		return nets.NewMLP(inputs, hidden, n.Features, classes, dropout), "", nil
	}
	depth, isResNet := strings.CutPrefix(n.Name, "resnet")
	layers, err := strconv.Atoi(depth)
	if !isResNet || err != nil {
		return nil, "", fmt.Errorf("no network %q", n.Name)
	}
	backbone, err := nets.NewResNet(layers)
	if err != nil {
		return nil, "", err
	}
	if n.Pretrained != config.NotPretrained {
		if weightsSHA256, err = backbone.LoadWeights(n.Pretrained); err != nil {
			return nil, "", fmt.Errorf("network.pretrained: %w; or set it to %s to train from scratch", err, config.NotPretrained)
		}
	}
	if n.Frozen {
		return nets.NewFrozen(backbone, classes), weightsSHA256, nil
	}
	return nets.NewFineTuned(backbone, classes), weightsSHA256, nil
}
