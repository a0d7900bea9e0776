package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/maruel/safetensors"

	"iwda/internal/convert"
	"iwda/internal/evenly"
	"iwda/internal/input"
	"iwda/nets/statedict"
)

// Outputs are the logits that the network of a finished run gives in evaluation mode: what
// runs are compared by without labels of the target. There are k classes.
type Outputs struct {
	Classes       int
	HeldOut       []float32 // of the source's rows that were held out, row-major n×k
	HeldOutLabels []int     // their n classes
	Target        []float32 // of the target's [JudgedRows], m×k
	// TargetCrossed is what was not trained on all rows of the source says of the same rows, m×k: it
	// compares with HeldOut if that is of cross-validation. Empty if Target compares with it.
	TargetCrossed []float32
	// TargetLabels are the m classes of these rows, -1 where one is not known. They serve to
	// measure alone.
	TargetLabels []int
	// HeldOutGroups and TargetGroups are the numbers of the groups that these rows belong to (n and m);
	// nil if none are known, as of former versions.
	HeldOutGroups, TargetGroups []int
	// HeldOutRows are the numbers of these rows in the source (n), ascending where learners judge them in
	// turn: several runs may have the same. Nil if they are not known, as of networks that are trained in steps.
	HeldOutRows []int
}

// MostJudged bounds the rows of a target by which runs are judged: with more, the choice among them
// would hardly be better.
const MostJudged = 10_000

// JudgedRows are the rows of a target's test set, of which there are so many, that Outputs has of a run
// that holds source rows out.
func JudgedRows(rows int) []int { return evenly.Rows(rows, MostJudged) }

// Compared returns the target's logits that compare with those of held-out rows, m×k.
func (o Outputs) Compared() []float32 {
	if len(o.TargetCrossed) > 0 {
		return o.TargetCrossed
	}
	return o.Target
}

// The tensors of outputs.safetensors.
const (
	heldOutLogits = "heldout_logits"
	heldOutLabels = "heldout_labels"
	targetLogits  = "target_logits"
	targetLabels  = "target_labels"
	crossedLogits = "target_crossed_logits"
	heldOutGroups = "heldout_groups"
	targetGroups  = "target_groups"
	heldOutRows   = "heldout_rows"
)

// WriteOutputs writes outputs.safetensors.
func (d Dir) WriteOutputs(o Outputs) error {
	logits := func(name string, values []float32) safetensors.Tensor {
		return tensor(name, safetensors.F32, values, uint64(len(values)/o.Classes), uint64(o.Classes))
	}
	labels := func(name string, labels []int) safetensors.Tensor {
		return tensor(name, safetensors.I64, convert.Slice[int64](labels), uint64(len(labels)))
	}
	file := safetensors.File{Tensors: []safetensors.Tensor{
		logits(heldOutLogits, o.HeldOut), labels(heldOutLabels, o.HeldOutLabels),
		logits(targetLogits, o.Target), labels(targetLabels, o.TargetLabels),
	}}
	if len(o.TargetCrossed) > 0 {
		file.Tensors = append(file.Tensors, logits(crossedLogits, o.TargetCrossed))
	}
	if o.HeldOutGroups != nil {
		file.Tensors = append(file.Tensors, labels(heldOutGroups, o.HeldOutGroups))
	}
	if o.TargetGroups != nil {
		file.Tensors = append(file.Tensors, labels(targetGroups, o.TargetGroups))
	}
	if o.HeldOutRows != nil {
		file.Tensors = append(file.Tensors, labels(heldOutRows, o.HeldOutRows))
	}
	return d.disk.Write(d.Path(OutputsFile), func(w io.Writer) error { return file.Serialize(w) })
}

func tensor(name string, kind safetensors.DType, values any, shape ...uint64) safetensors.Tensor {
	var data bytes.Buffer
	binary.Write(&data, binary.LittleEndian, values) // a Buffer takes everything
	return safetensors.Tensor{Name: name, DType: kind, Shape: shape, Data: data.Bytes()}
}

// ReadOutputs reads outputs.safetensors. The error wraps [fs.ErrNotExist] if there is none: the run
// held nothing out.
func (d Dir) ReadOutputs() (Outputs, error) {
	path := d.Path(OutputsFile)
	text, err := input.Read(path, input.Tensors)
	if errors.Is(err, fs.ErrNotExist) {
		return Outputs{}, fmt.Errorf("%w: a run leaves it that holds source rows out; set train.validation, and run again with --overwrite", err)
	}
	if err != nil {
		return Outputs{}, err
	}
	o, err := parseOutputs(text)
	if err != nil {
		return Outputs{}, fmt.Errorf("%s: %w", path, err)
	}
	return o, nil
}

func parseOutputs(text []byte) (o Outputs, err error) {
	tensors, err := statedict.Parse(text)
	if err != nil {
		return Outputs{}, err
	}
	of := func(name string) (t safetensors.Tensor, is bool) {
		if found := statedict.Find(tensors, name); found != nil {
			return *found, true
		}
		return t, false
	}
	rows := map[string]uint64{}
	for _, logits := range []struct {
		name   string
		values *[]float32
	}{{heldOutLogits, &o.HeldOut}, {targetLogits, &o.Target}, {crossedLogits, &o.TargetCrossed}} {
		t, is := of(logits.name)
		if !is && logits.name == crossedLogits {
			continue
		}
		if t.DType != safetensors.F32 || len(t.Shape) != 2 || t.Shape[1] == 0 || o.Classes > 0 && t.Shape[1] != uint64(o.Classes) {
			return Outputs{}, fmt.Errorf("%s is no matrix of float32, or has another number of classes", logits.name)
		}
		o.Classes, rows[logits.name] = int(t.Shape[1]), t.Shape[0]
		*logits.values = statedict.Floats(t)
	}
	if n := rows[crossedLogits]; n != 0 && n != rows[targetLogits] {
		return Outputs{}, fmt.Errorf("%s has %d rows, %s %d", crossedLogits, n, targetLogits, rows[targetLogits])
	}
	for _, numbers := range []struct {
		name, of    string
		least, most int
		values      *[]int
	}{
		{heldOutLabels, heldOutLogits, 0, o.Classes - 1, &o.HeldOutLabels}, {targetLabels, targetLogits, -1, o.Classes - 1, &o.TargetLabels},
		{heldOutGroups, heldOutLogits, 0, math.MaxInt32, &o.HeldOutGroups}, {targetGroups, targetLogits, 0, math.MaxInt32, &o.TargetGroups},
		{heldOutRows, heldOutLogits, 0, math.MaxInt32, &o.HeldOutRows},
	} {
		t, is := of(numbers.name)
		if !is && slices.Contains([]string{heldOutGroups, targetGroups, heldOutRows}, numbers.name) {
			continue
		}
		if t.DType != safetensors.I64 || len(t.Shape) != 1 || t.Shape[0] != rows[numbers.of] {
			return Outputs{}, fmt.Errorf("%s is no int64 for each of the rows of %s", numbers.name, numbers.of)
		}
		values := make([]int64, t.Shape[0])
		if _, err := binary.Decode(t.Data, binary.LittleEndian, values); err != nil {
			return Outputs{}, fmt.Errorf("%s: %w", numbers.name, err)
		}
		for i, value := range values {
			if value < int64(numbers.least) || value > int64(numbers.most) {
				return Outputs{}, fmt.Errorf("%s: row %d has %d; want %d to %d", numbers.name, i, value, numbers.least, numbers.most)
			}
			*numbers.values = append(*numbers.values, int(value))
		}
	}
	return o, nil
}

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
	s.Confusion = append(s.Confusion, convert.Slice[float32](confusion)...)
	s.TargetPredictions = append(s.TargetPredictions, convert.Slice[float32](targetPredictions)...)
}

// WriteStatistics writes statistics.safetensors, nothing if there was no update.
func (d Dir) WriteStatistics(s Statistics) error {
	n := uint64(len(s.Steps))
	if n == 0 {
		return nil
	}
	k := uint64(len(s.TargetPredictions)) / n
	file := safetensors.File{Tensors: []safetensors.Tensor{
		tensor("steps", safetensors.I64, s.Steps, n),
		tensor("confusion", safetensors.F32, s.Confusion, n, k, k),
		tensor("target_predictions", safetensors.F32, s.TargetPredictions, n, k),
	}}
	return d.disk.Write(d.Path(StatisticsFile), func(w io.Writer) error { return file.Serialize(w) })
}
