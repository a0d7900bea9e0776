package train

import (
	"slices"

	"iwda/torch"
)

// recorder makes the steps of a run: each as it is, or as work that a GPU has recorded and is
// asked for as a whole.
type recorder struct {
	recording bool
	device    torch.Device
	random    *torch.Random // what dropout draws from
	compute   func(in stepInputs, aligned bool, rates, coefficients []torch.Coefficient) measures
	recorded  map[bool]*recordedStep // with and without the domain loss
}

// step makes a step on these inputs with these learning rates and coefficients.
func (r *recorder) step(in stepInputs, aligned bool, rates, coefficients []float64) measures {
	values := slices.Concat(rates, coefficients, []float64{r.seed()})
	body := func(in stepInputs, c []torch.Coefficient) (m measures) {
		seed := len(c) - 1
		r.drawing(c[seed], func() { m = r.compute(in, aligned, c[:len(rates)], c[len(rates):seed]) })
		return m
	}
	if !r.recording {
		return body(in, numbers(values))
	}
	if r.recorded[aligned] == nil {
		r.recorded[aligned] = newRecordedStep(in, len(values), r.device, body)
	}
	return r.recorded[aligned].run(in, values)
}

// seed is what a step's dropout follows from on a GPU, where it may be recorded.
func (r *recorder) seed() float64 {
	if r.device.IsCUDA() {
		return r.random.DeviceSeed()
	}
	return 0
}

// drawing makes a step with that seed.
func (r *recorder) drawing(seed torch.Coefficient, step func()) {
	if r.device.IsCUDA() {
		r.random.UseSeed(seed, step)
	} else {
		r.random.Use(step)
	}
}

func (r *recorder) close() {
	for _, step := range r.recorded {
		step.graph.Close()
	}
}

func numbers(values []float64) []torch.Coefficient {
	coefficients := make([]torch.Coefficient, len(values))
	for i, v := range values {
		coefficients[i] = torch.Number(v)
	}
	return coefficients
}

// recordedStep is a step whose inputs and numbers have places on the device, to which those
// of every step are copied.
type recordedStep struct {
	in      stepInputs
	numbers torch.Tensor // learning rates, coefficients and the seed
	graph   *torch.Graph
	last    measures // but for their values
}

func newRecordedStep(like stepInputs, count int, device torch.Device, body func(stepInputs, []torch.Coefficient) measures) *recordedStep {
	place := func(like torch.Tensor) torch.Tensor { return torch.Keep(like.Clone()) }
	s := &recordedStep{
		in:      stepInputs{place(like.source), place(like.target), place(like.labels)},
		numbers: torch.Keep(torch.Full(0, torch.Float64, device, count)),
	}
	scalars := make([]torch.Coefficient, count)
	for i := range scalars {
		scalars[i] = torch.Scalar(torch.Keep(s.numbers.Narrow(0, i, 1).Reshape()))
	}
	s.graph = torch.NewGraph(device, func() torch.Tensor {
		s.last = body(s.in, scalars)
		return s.last.values
	})
	return s
}

func (s *recordedStep) run(in stepInputs, numbers []float64) measures {
	for _, of := range []struct{ place, values torch.Tensor }{
		{s.in.source, in.source}, {s.in.target, in.target}, {s.in.labels, in.labels},
		{s.numbers, torch.Upload(numbers, s.numbers.Device(), len(numbers))},
	} {
		of.place.Set(of.values)
	}
	values := s.graph.Run()
	m := s.last
	m.values = values.Clone() // the next step overwrites them
	return m
}
