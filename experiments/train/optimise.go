package train

import (
	"iwda/experiments/config"
	"iwda/nets"
	"iwda/torch"
)

// group is a part of the parameters with its own learning rate.
type group struct {
	sgd   *torch.SGD
	names []string // of its parameters
	// rate multiplies the learning rate; constant leaves the schedule out.
	rate     float64
	constant bool
}

// newGroups makes the optimisers of the network and, where it trains something, of
// the alignment.
func newGroups(run config.Resolved, network nets.Network, alignment alignment) []group {
	headRate := run.Train.HeadRate
	if headRate == 0 {
		headRate = 1
	}
	var groups []group
	add := func(state nets.State, rate float64, constant bool) {
		if parameters := state.Parameters(); len(parameters) > 0 {
			groups = append(groups, group{torch.NewSGD(parameters), state.ParameterNames(), rate, constant})
		}
	}
	if p, ok := network.(nets.Grouped); ok {
		if !run.Network.Frozen {
			add(p.Backbone(), 1, false)
		}
		add(p.Head(), headRate, false)
	} else {
		add(network.State(), headRate, false)
	}
	if alignment != nil {
		add(alignment.state(), headRate, !run.Discriminator.Annealed)
	}
	return groups
}

// optimise makes a step of every group from the gradients of the total.
func (t *trainer) optimise(p Position, total torch.Tensor) {
	for _, g := range t.groups {
		g.sgd.ZeroGrad()
	}
	total.Backward()
	o := t.run.Train.Optimizer
	t.learningRate = t.run.Train.Schedule.Rate(o.LR, p.Epoch, p.Step)
	for _, g := range t.groups {
		rate := t.learningRate
		if g.constant {
			rate = o.LR
		}
		g.sgd.Step(torch.SGDOptions{LearningRate: rate * g.rate, Momentum: o.Momentum, WeightDecay: o.WeightDecay, Nesterov: o.Nesterov})
	}
}
