package train

import (
	"slices"

	"iwda/torch"
)

// capturer makes the steps of a run: each as it is, or as work that a GPU has captured and is
// asked for as a whole.
type capturer struct {
	on      bool
	device  torch.Device
	random  *torch.Random // what dropout draws from
	compute func(in stepInputs, aligned bool, rates, coefficients []torch.Coefficient) measures
	steps   map[bool]*capturedStep // with and without the domain loss
}

// step makes a step on these inputs with these learning rates and coefficients.
func (c *capturer) step(in stepInputs, aligned bool, rates, coefficients []float64) measures {
	values := slices.Concat(rates, coefficients, []float64{c.seed()})
	body := func(in stepInputs, k []torch.Coefficient) (m measures) {
		seed := len(k) - 1
		c.drawing(k[seed], func() { m = c.compute(in, aligned, k[:len(rates)], k[len(rates):seed]) })
		return m
	}
	if !c.on {
		return body(in, numbers(values))
	}
	if c.steps[aligned] == nil {
		c.steps[aligned] = newCapturedStep(in, len(values), c.device, body)
	}
	return c.steps[aligned].run(in, values)
}

// seed is what a step's dropout follows from on a GPU, where it may be captured.
func (c *capturer) seed() float64 {
	if c.device.IsCUDA() {
		return c.random.DeviceSeed()
	}
	return 0
}

// drawing makes a step with that seed.
func (c *capturer) drawing(seed torch.Coefficient, step func()) {
	if c.device.IsCUDA() {
		c.random.UseSeed(seed, step)
	} else {
		c.random.Use(step)
	}
}

func (c *capturer) close() {
	for _, step := range c.steps {
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

// capturedStep is a step whose inputs and numbers have places on the device, to which those
// of every step are copied.
type capturedStep struct {
	in      stepInputs
	numbers torch.Tensor // learning rates, coefficients and the seed
	graph   *torch.Graph
	last    measures // but for their values
}

func newCapturedStep(like stepInputs, count int, device torch.Device, body func(stepInputs, []torch.Coefficient) measures) *capturedStep {
	place := func(like torch.Tensor) torch.Tensor { return torch.Keep(like.Clone()) }
	s := &capturedStep{
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

func (s *capturedStep) run(in stepInputs, numbers []float64) measures {
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
