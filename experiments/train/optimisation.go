package train

import (
	"cmp"
	"fmt"
	"math"

	"iwda/experiments/checkpoint"
	"iwda/experiments/config"
	"iwda/nets"
	"iwda/torch"
)

// optimisation is the optimisers of a run.
type optimisation struct {
	settings config.Train
	groups   []group
	rate     float64 // of the network at the last step
	restarts *restarts
}

// restarts are the times at which a run began again with lower learning rates, because a loss
// or gradient was not finite. It begins at its seed, as the epochs before such an end are spoilt
// already; and so what comes out does not depend on when it was interrupted.
type restarts struct {
	most int
	made []checkpoint.Restart
}

// slowdown is what a restart multiplies all learning rates by.
const slowdown = 0.5

// factor is what all learning rates are multiplied by.
func (r *restarts) factor() float64 { return math.Pow(slowdown, float64(len(r.made))) }

func (r *restarts) save(s *saving) { s.Restarts = r.made }

func (r *restarts) restore(from *restoring) error {
	if len(from.Restarts) > r.most {
		return fmt.Errorf("it began again %d times, train.restarts is %d", len(from.Restarts), r.most)
	}
	r.made = from.Restarts
	return nil
}

// explain adds to the error of a run how often it began.
func (r *restarts) explain(err error) error {
	if len(r.made) == 0 {
		return err
	}
	return fmt.Errorf("%w (after %d restarts, with learning rates times %v)", err, len(r.made), r.factor())
}

// group is a part of the parameters with its own learning rate.
type group struct {
	sgd   *torch.SGD
	names []string // of its parameters
	// rate multiplies the learning rate; constant leaves the schedule out.
	rate        float64
	constant    bool
	ofAlignment bool // not of the network
}

// newGroups makes the optimisers of the network and, where it trains something, of
// each pair's alignment.
func newGroups(run config.Resolved, network nets.Network, pairs []pair) []group {
	headRate := cmp.Or(run.Train.HeadRate, 1)
	var groups []group
	add := func(state nets.State, g group) {
		if parameters := state.Parameters(); len(parameters) > 0 {
			g.sgd, g.names = torch.NewSGD(parameters), state.ParameterNames()
			groups = append(groups, g)
		}
	}
	if p, ok := network.(nets.Grouped); ok {
		if !run.Network.Frozen {
			add(p.Backbone(), group{rate: 1})
		}
		add(p.Head(), group{rate: headRate})
	} else {
		add(network.State(), group{rate: headRate})
	}
	for _, pair := range pairs {
		if pair.alignment != nil {
			add(pair.alignment.state(), group{rate: headRate, constant: !run.Discriminator.Annealed, ofAlignment: true})
		}
	}
	return groups
}

// gradientNorms are the Euclidean norms of a step's gradients, of each group on its device.
type gradientNorms struct{ network, alignment []torch.Tensor }

// norm is that of all groups of a part together, whose norms next returns.
func norm(groups int, next func() float64) (all float64) {
	for range groups {
		all = math.Hypot(all, next())
	}
	return all
}

// rates are the learning rates of the groups in a step.
func (o *optimisation) rates(p position) []float64 {
	lr := o.settings.Optimizer.LR * o.restarts.factor()
	o.rate = o.settings.Schedule.Rate(lr, p.epoch, p.step)
	rates := make([]float64, len(o.groups))
	for i, g := range o.groups {
		rates[i] = o.rate * g.rate
		if g.constant {
			rates[i] = lr * g.rate
		}
	}
	return rates
}

// step makes a step of every group, at its rate, down the gradient of the loss.
func (o *optimisation) step(rates []torch.Coefficient, loss torch.Tensor) (norms gradientNorms) {
	for _, g := range o.groups {
		g.sgd.ZeroGrad()
	}
	loss.Backward()
	sgd := o.settings.Optimizer
	for i, g := range o.groups {
		norm := g.sgd.Step(torch.SGDOptions{
			LearningRate: rates[i], Momentum: sgd.Momentum, WeightDecay: sgd.WeightDecay, Nesterov: sgd.Nesterov,
		})
		if g.ofAlignment {
			norms.alignment = append(norms.alignment, norm)
		} else {
			norms.network = append(norms.network, norm)
		}
	}
	return norms
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
