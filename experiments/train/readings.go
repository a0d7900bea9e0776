package train

import (
	"math"
	"slices"

	"iwda/experiments/store"
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

// reading is what one step leaves. Where several processes make a run, the features, logits
// and what the discriminator says are those of this process's share.
type reading struct {
	measures
	at      position
	classes []int // of the whole batch's source rows
}

// measures are what a step measures: numbers on its device, all in one tensor.
type measures struct {
	values  torch.Tensor // of float32
	lengths []int        // of what stands in values one after another
	rows    int          // of features and logits

	aligned, discriminated               bool // there is a domain loss, of a discriminator
	networkGradients, alignmentGradients int  // groups of parameters
}

// measure takes what is wanted of a step: its outputs, losses and norms of gradients, and the
// predictions for the whole batch, source rows first.
func measure(f stepOutputs, losses lossTensors, gradients gradientNorms, predictions torch.Tensor) (m measures) {
	m = measures{
		rows: f.features.Shape()[0], aligned: losses.aligned, discriminated: len(losses.discriminator) > 0,
		networkGradients: len(gradients.network), alignmentGradients: len(gradients.alignment),
	}
	torch.NoGrad(func() {
		all := []torch.Tensor{predictions, f.features.Square().Sum(), f.logits.Square().Sum(), losses.classification}
		if losses.aligned {
			all = append(all, losses.domain)
		}
		all = slices.Concat(all, losses.discriminator, gradients.network, gradients.alignment)
		for i, t := range all {
			m.lengths = append(m.lengths, t.Len())
			all[i] = t.Reshape(-1)
		}
		m.values = torch.Cat(0, all...)
	})
	return m
}

// add takes down a step, of whose source rows these are the classes.
func (r *readings) add(at position, m measures, classes []int) {
	r.waiting = append(r.waiting, reading{m, at, classes})
}

// keep takes the last step's out of the current scope, so that they wait for others.
func (r *readings) keep() { torch.Keep(r.waiting[len(r.waiting)-1].measures.values) }

// instruments are what is read at a step that shows how training goes, and changes nothing.
type instruments struct {
	featureNorm, logitNorm             float64 // root mean square over the rows of ‖z‖ and of the logits
	networkGradient, alignmentGradient float64 // norms, before any limit
	discriminatorAccuracy              store.Optional[float64]
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

// read takes what was copied of its values.
func (r *reading) read(copied []float32, tradeOff float64) stepValues {
	lengths := r.lengths
	next := func() []float32 {
		first := copied[:lengths[0]]
		copied, lengths = copied[lengths[0]:], lengths[1:]
		return first
	}
	number := func() float64 { return float64(next()[0]) }
	v := stepValues{predictions: next()}
	v.instruments.featureNorm = math.Sqrt(number() / float64(r.rows))
	v.instruments.logitNorm = math.Sqrt(number() / float64(r.rows))
	v.losses.classification = number()
	if v.losses.aligned = r.aligned; v.losses.aligned {
		v.losses.domain = number()
	}
	v.losses.total = v.losses.classification + tradeOff*v.losses.domain
	if r.discriminated {
		v.instruments.discriminatorAccuracy = discriminatorAccuracy(next(), next())
	}
	v.instruments.networkGradient = norm(r.networkGradients, number)
	v.instruments.alignmentGradient = norm(r.alignmentGradients, number)
	return v
}

// full tells whether as many steps wait as are read together.
func (r *readings) full() bool { return len(r.waiting) >= r.together }

// take copies what waits to the host, all of it at once, and hands out step after step, up
// to the first error.
func (r *readings) take(tradeOff float64, step func(reading, stepValues) error) error {
	if len(r.waiting) == 0 {
		return nil
	}
	tensors := make([]torch.Tensor, len(r.waiting))
	for i, w := range r.waiting {
		tensors[i] = w.measures.values
	}
	copied := fetch(tensors...)
	for _, t := range tensors {
		t.Release()
	}
	waiting := r.waiting
	r.waiting = r.waiting[:0]
	for i, w := range waiting {
		if err := step(w, w.read(copied[i], tradeOff)); err != nil {
			return w.at.failed(err)
		}
	}
	return nil
}

// fetch copies lists of float32 to the host, all of them at once.
func fetch(tensors ...torch.Tensor) [][]float32 {
	var all []float32
	torch.Tidy(func() {
		together := tensors[0]
		if len(tensors) > 1 {
			together = torch.Cat(0, tensors...)
		}
		all = torch.ToSlice[float32](together)
	})
	values := make([][]float32, len(tensors))
	for i, t := range tensors {
		n := t.Len()
		values[i], all = all[:n:n], all[n:]
	}
	return values
}
