package train

import (
	"fmt"

	"iwda/experiments/config"
	"iwda/nets"
	"iwda/torch"
)

// optimisation is the optimisers of a run.
type optimisation struct {
	settings config.Train
	groups   []group
	rate     float64 // of the network at the last step
	// processes average their gradients.
	processes  processes
	parameters []torch.Tensor // of all groups
}

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

func newOptimisation(run config.Resolved, network nets.Network, alignment alignment, processes processes) *optimisation {
	o := &optimisation{settings: run.Train, groups: newGroups(run, network, alignment), rate: run.Train.Optimizer.LR, processes: processes}
	o.parameters = network.State().Parameters()
	if alignment != nil {
		o.parameters = append(o.parameters, alignment.state().Parameters()...)
	}
	return o
}

// step makes a step of every group down the gradient of the loss.
func (o *optimisation) step(p position, loss torch.Tensor) {
	for _, g := range o.groups {
		g.sgd.ZeroGrad()
	}
	loss.Backward()
	o.processes.averageGradients(o.parameters)
	sgd := o.settings.Optimizer
	o.rate = o.settings.Schedule.Rate(sgd.LR, p.epoch, p.step)
	for _, g := range o.groups {
		rate := o.rate
		if g.constant {
			rate = sgd.LR
		}
		g.sgd.Step(torch.SGDOptions{LearningRate: rate * g.rate, Momentum: sgd.Momentum, WeightDecay: sgd.WeightDecay, Nesterov: sgd.Nesterov})
	}
}

func (o *optimisation) close() {
	for _, g := range o.groups {
		g.sgd.Close()
	}
}

func (o *optimisation) save(s *saving) {
	s.LearningRate = o.rate
	for i, g := range o.groups {
		for j, buffer := range g.sgd.Momentum() {
			if !buffer.IsZero() {
				s.add(momentumName(i, g.names[j]), buffer)
			}
		}
	}
}

func (o *optimisation) restore(r *restoring) error {
	o.rate = r.LearningRate
	for i, g := range o.groups {
		buffers := make([]torch.Tensor, len(g.names))
		for j, name := range g.names {
			buffers[j] = r.takeIfThere(momentumName(i, name))
		}
		g.sgd.SetMomentum(buffers)
	}
	return nil
}

func momentumName(group int, parameter string) string {
	return fmt.Sprintf("momentum.%d.%s", group, parameter)
}
