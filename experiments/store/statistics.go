package store

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/maruel/safetensors"

	"iwda/internal/input"
)

// Statistics are C and mu of n updates of the class weights, from which their estimates followed, of
// k classes: what the lemmas on estimates suppose can be checked with them after a run.
type Statistics struct {
	Steps             []int64   // after which the n updates were made
	Confusion         []float32 // C, n×k×k, row = predicted class, column = true class
	TargetPredictions []float32 // mu, n×k
}

// Add adds those of an update after a step: C, k×k, and mu, k.
func (s *Statistics) Add(step int, confusion, targetPredictions []float64) {
	s.Steps = append(s.Steps, int64(step))
	for _, v := range confusion {
		s.Confusion = append(s.Confusion, float32(v))
	}
	for _, v := range targetPredictions {
		s.TargetPredictions = append(s.TargetPredictions, float32(v))
	}
}

// The tensors of statistics.safetensors.
const (
	statisticsSteps     = "steps"
	statisticsConfusion = "confusion"
	statisticsTarget    = "target_predictions"
)

// WriteStatistics writes statistics.safetensors, nothing if there was no update.
func (d Dir) WriteStatistics(s Statistics) error {
	n := uint64(len(s.Steps))
	if n == 0 {
		return nil
	}
	k := uint64(len(s.TargetPredictions)) / n
	file := safetensors.File{Tensors: []safetensors.Tensor{
		tensor(statisticsSteps, safetensors.I64, s.Steps, n),
		tensor(statisticsConfusion, safetensors.F32, s.Confusion, n, k, k),
		tensor(statisticsTarget, safetensors.F32, s.TargetPredictions, n, k),
	}}
	return d.disk.Write(d.Path(StatisticsFile), func(w io.Writer) error { return file.Serialize(w) })
}

// ReadStatistics reads statistics.safetensors. The error wraps [fs.ErrNotExist] if there is none, as of
// runs of former versions.
func (d Dir) ReadStatistics() (s Statistics, err error) {
	path := d.Path(StatisticsFile)
	text, err := input.Read(path, input.Tensors)
	if err != nil {
		return Statistics{}, err
	}
	tensors, err := tensorsIn(text)
	if err != nil {
		return Statistics{}, fmt.Errorf("%s: %w", path, err)
	}
	steps, mu := tensors[statisticsSteps], tensors[statisticsTarget]
	if len(steps.Shape) != 1 || len(mu.Shape) != 2 {
		return Statistics{}, fmt.Errorf("%s has no %s of as many updates as %s", path, statisticsTarget, statisticsSteps)
	}
	n, k := steps.Shape[0], mu.Shape[1]
	s = Statistics{make([]int64, n), make([]float32, n*k*k), make([]float32, n*k)}
	for name, values := range map[string]any{statisticsSteps: s.Steps, statisticsConfusion: s.Confusion, statisticsTarget: s.TargetPredictions} {
		data := tensors[name].Data
		if _, err := binary.Decode(data, binary.LittleEndian, values); err != nil || len(data) != binary.Size(values) {
			return Statistics{}, fmt.Errorf("%s: %s is not of %d updates and %d classes", path, name, n, k)
		}
	}
	return s, nil
}
