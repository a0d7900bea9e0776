package adapt

import (
	"bytes"
	_ "embed"
	"fmt"
	"path/filepath"
	"strconv"
	"text/template"

	"iwda/datasets/catalogue"
	"iwda/selection"
)

//go:embed experiment.yaml.tmpl
var experimentText string

var experimentTemplate = template.Must(template.New("experiment").Funcs(template.FuncMap{"quote": strconv.Quote}).Parse(experimentText))

// settings are what depends on the data in an experiment file.
type settings struct {
	Data
	Title          string
	Features       bool // not images
	Clip           int  // of network.clip; 0 where nothing has to be clipped
	Rule           string
	HeldOut        float64
	RarestClass    string
	RarestRows     int
	TargetLabelled int
	Batch          int
	Epochs         int // of Features
	Steps          int // in all
	Every          int // epochs between two halvings of the rate; steps between two evaluations
}

// The length of training: enough steps for a small network to come to rest, however few
// rows there are, and enough passes for the class weights, which are estimated after each,
// however many.
const (
	wantedSteps  = 1200
	fewestEpochs = 8
	mostEpochs   = 300
	halvings     = 2 // of the learning rate, over the run
	largestBatch = 128
	heldOut      = 0.1

	imageSteps       = 2000
	imageEvaluations = 10
	largestOfImages  = 32 // rows of a batch
)

// Experiment returns the experiment file for the data. The same data give the same bytes.
func (d Data) Experiment() ([]byte, error) {
	rarest, rows := d.Source.rarest()
	s := settings{
		Data:     d,
		Title:    filepath.Base(d.Source.Path) + " → " + filepath.Base(d.Target.Path),
		Features: d.Kind == catalogue.Vectors,
		Rule:     selection.TargetRisk, HeldOut: heldOut,
		RarestClass: d.Classes[rarest], RarestRows: rows,
		TargetLabelled: d.Target.labelled(),
	}
	if s.Features {
		if len(d.Columns.Clipped) > 0 {
			s.Clip = clipAt
		}
		larger := max(d.Source.Rows, d.Target.Rows)
		s.Batch = batchFor(larger, largestBatch)
		steps := larger / s.Batch
		s.Epochs = min(max(wantedSteps/steps, fewestEpochs), mostEpochs)
		s.Steps, s.Every = s.Epochs*steps, max(1, s.Epochs/(halvings+1))
	} else { // a batch is drawn from each domain without replacement
		s.Batch = batchFor(min(d.Source.Rows, d.Target.Rows), largestOfImages)
		s.Steps, s.Every = imageSteps, imageSteps/imageEvaluations
	}
	var text bytes.Buffer
	if err := experimentTemplate.Execute(&text, s); err != nil {
		return nil, fmt.Errorf("cannot write the experiment file: %w", err)
	}
	return text.Bytes(), nil
}

// batchFor is the number of rows of each domain in a step: the largest, or the largest
// power of two of which a pass over the rows takes at least eight.
func batchFor(rows, largest int) int {
	batch := largest
	for batch > 1 && rows < 8*batch {
		batch /= 2
	}
	return batch
}
