package train

import (
	"slices"

	"iwda/torch"
)

// recorder makes the steps of a run: each as it is, or, with train.graph, as work that is
// recorded and asked for as a whole.
type recorder struct {
	recording bool
	device    torch.Device
	random    *torch.Random // what dropout draws from
	compute   func(in stepInputs, aligned bool, rates, coefficients []torch.Coefficient) measures
	recorded  map[bool]*recordedStep // with and without the domain loss
}

// step makes a step on these inputs with these learning rates and coefficients.
func (r *recorder) step(in stepInputs, aligned bool, rates, coefficients []float64) measures {
	if !r.recording {
		var m measures
		drawing(r.random, r.device, torch.Number(deviceSeed(r.random, r.device)), func() {
			m = r.compute(in, aligned, numbers(rates), numbers(coefficients))
		})
		return m
	}
	if r.recorded == nil {
		r.recorded = make(map[bool]*recordedStep)
	}
	step := r.recorded[aligned]
	if step == nil {
		step = newRecordedStep(in, len(rates)+len(coefficients), r.random, r.device, func(in stepInputs, scalars []torch.Coefficient) measures {
			return r.compute(in, aligned, scalars[:len(rates)], scalars[len(rates):])
		})
		r.recorded[aligned] = step
	}
	return step.run(in, slices.Concat(rates, coefficients))
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
	numbers torch.Tensor // learning rates, coefficients and what dropout follows from
	random  *torch.Random
	graph   *torch.Graph
	last    measures // but for their values
}

func newRecordedStep(like stepInputs, count int, random *torch.Random, device torch.Device, body func(stepInputs, []torch.Coefficient) measures) *recordedStep {
	place := func(like torch.Tensor) torch.Tensor { return torch.Keep(like.Clone()) }
	s := &recordedStep{
		in:      stepInputs{place(like.source), place(like.target), place(like.labels)},
		numbers: torch.Keep(torch.Full(0, torch.Float64, device, count+1)),
		random:  random,
	}
	scalars := make([]torch.Tensor, count+1)
	coefficients := make([]torch.Coefficient, count)
	for i := range scalars {
		scalars[i] = torch.Keep(s.numbers.Narrow(0, i, 1).Reshape())
	}
	for i := range coefficients {
		coefficients[i] = torch.Scalar(scalars[i])
	}
	s.graph = torch.NewGraph(device, func() torch.Tensor {
		drawing(random, device, torch.Scalar(scalars[count]), func() { s.last = body(s.in, coefficients) })
		return s.last.values
	})
	return s
}

// drawing makes a step, whose dropout follows from the seed on a GPU, where it may be recorded.
func drawing(random *torch.Random, device torch.Device, seed torch.Coefficient, step func()) {
	if device.IsCUDA() {
		random.UseSeed(seed, step)
	} else {
		random.Use(step)
	}
}

// deviceSeed is what a step's dropout follows from on a GPU.
func deviceSeed(random *torch.Random, device torch.Device) float64 {
	if device.IsCUDA() {
		return random.DeviceSeed()
	}
	return 0
}

func (s *recordedStep) run(in stepInputs, numbers []float64) measures {
	numbers = append(numbers, deviceSeed(s.random, s.numbers.Device()))
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
