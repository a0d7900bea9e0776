package train

import (
	"math"

	"iwda/torch"
)

// readings are what steps leave for the host: losses, predictions and instruments. They stay
// on the device until there are enough of them or somebody needs them, because a copy to
// the host waits for everything that was asked of a GPU before.
type readings struct {
	together int // steps that are read at once, at most
	waiting  []reading
}

// newReadings reads each step on a CPU, where nothing waits, and some together elsewhere.
func newReadings(device torch.Device) *readings {
	if device == torch.CPU {
		return &readings{together: 1}
	}
	return &readings{together: 50}
}

// reading is what one step leaves: tensors of float32 on its device. Where several processes
// make a run, the features, logits and what the discriminator says are those of this process's share.
type reading struct {
	at                           position
	rows                         int   // of features and logits
	classes                      []int // of the whole batch's source rows
	predictions                  torch.Tensor
	featureSquares, logitSquares torch.Tensor // sums over all elements
	losses                       lossTensors
	gradients                    gradientNorms
}

// add takes down a step: its outputs, losses and norms of gradients, and the predictions for
// the whole batch, source rows of these classes first.
func (r *readings) add(at position, f stepOutputs, losses lossTensors, gradients gradientNorms, predictions torch.Tensor, classes []int) {
	torch.NoGrad(func() {
		step := reading{
			at: at, rows: f.features.Shape()[0], classes: classes, predictions: predictions,
			featureSquares: f.features.Square().Sum(), logitSquares: f.logits.Square().Sum(),
			losses: losses, gradients: gradients,
		}
		step.losses.minimised = torch.Tensor{}
		for _, t := range step.tensors() {
			*t = t.Detach()
		}
		r.waiting = append(r.waiting, step)
	})
}

// keep takes the last step's out of the current scope, so that they wait for others.
func (r *readings) keep() {
	for _, t := range r.waiting[len(r.waiting)-1].tensors() {
		torch.Keep(*t)
	}
}

// tensors are all that is read, in the order in which values takes them.
func (r *reading) tensors() []*torch.Tensor {
	all := []*torch.Tensor{&r.predictions, &r.featureSquares, &r.logitSquares, &r.losses.classification}
	if r.losses.aligned {
		all = append(all, &r.losses.domain)
	}
	for _, list := range [][]torch.Tensor{r.losses.discriminator, r.gradients.network, r.gradients.alignment} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

// stepValues are those of a reading on the host.
type stepValues struct {
	predictions []float32
	losses      stepLosses
	instruments instruments
}

// checkFinite returns a [*NotFiniteError] for the first loss or gradient that is not finite.
func (v stepValues) checkFinite(at position) error {
	for _, of := range []struct {
		term  string
		value float64
	}{
		{"classification loss", v.losses.classification}, {"domain loss", v.losses.domain},
		{"network's gradient", v.instruments.networkGradient}, {"discriminator's gradient", v.instruments.alignmentGradient},
	} {
		if math.IsNaN(of.value) || math.IsInf(of.value, 0) {
			return &NotFiniteError{of.term, of.value, at.step + 1}
		}
	}
	return nil
}

// values takes what was copied of its tensors.
func (r *reading) values(copied [][]float32, tradeOff float64) stepValues {
	next := func() []float32 {
		first := copied[0]
		copied = copied[1:]
		return first
	}
	number := func() float64 { return float64(next()[0]) }
	v := stepValues{predictions: next()}
	v.instruments.featureNorm = rowNorm(number(), r.rows)
	v.instruments.logitNorm = rowNorm(number(), r.rows)
	v.losses.classification = number()
	if v.losses.aligned = r.losses.aligned; v.losses.aligned {
		v.losses.domain = number()
	}
	v.losses.total = v.losses.classification + tradeOff*v.losses.domain
	if len(r.losses.discriminator) > 0 {
		v.instruments.discriminatorAccuracy = discriminatorAccuracy(next(), next())
	}
	v.instruments.networkGradient = norm(r.gradients.network, number)
	v.instruments.alignmentGradient = norm(r.gradients.alignment, number)
	return v
}

// full tells whether as many steps wait as are read together.
func (r *readings) full() bool { return len(r.waiting) >= r.together }

// take copies what waits to the host, all of it at once, and hands out step after step, up
// to the first error.
func (r *readings) take(tradeOff float64, step func(reading, stepValues) error) error {
	var tensors []torch.Tensor
	for i := range r.waiting {
		for _, t := range r.waiting[i].tensors() {
			tensors = append(tensors, *t)
		}
	}
	if len(tensors) == 0 {
		return nil
	}
	copied := fetch(tensors...)
	for _, t := range tensors {
		t.Release()
	}
	waiting := r.waiting
	r.waiting = r.waiting[:0]
	for _, w := range waiting {
		n := len(w.tensors())
		if err := step(w, w.values(copied[:n], tradeOff)); err != nil {
			return w.at.failed(err)
		}
		copied = copied[n:]
	}
	return nil
}

// fetch copies tensors of float32 to the host, all of them at once.
func fetch(tensors ...torch.Tensor) [][]float32 {
	values := make([][]float32, len(tensors))
	var all []float32
	torch.Tidy(func() {
		flat := make([]torch.Tensor, len(tensors))
		for i, t := range tensors {
			flat[i] = t.Reshape(-1)
		}
		all = torch.ToSlice[float32](torch.Cat(0, flat...))
	})
	for i, t := range tensors {
		n := t.Len()
		values[i], all = all[:n:n], all[n:]
	}
	return values
}
