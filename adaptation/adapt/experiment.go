package adapt

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"gopkg.in/yaml.v3"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/normalise"
	"iwda/inference/selection"
	"iwda/internal/convert"
	"iwda/learners"
)

//go:embed experiment.yaml.tmpl
var experimentText string

var experimentTemplate = template.Must(template.New("experiment").Funcs(template.FuncMap{"quote": strconv.Quote, "files": flow}).Parse(experimentText))

// flow is a domain in an experiment file, in a line.
func flow(f catalogue.Files) (string, error) {
	var node yaml.Node
	if err := node.Encode(f); err != nil {
		return "", err
	}
	node.Style = yaml.FlowStyle
	text, err := yaml.Marshal(&node)
	return strings.TrimSpace(string(text)), err
}

// settings are what depends on the data in an experiment file.
type settings struct {
	Data
	Title          string
	Sources        []Domain
	Features       bool    // not images
	Small          bool    // a small network from scratch for images
	Table          bool    // of few columns
	Stepless       bool    // a table, or an array without iwrun-torch
	Many           bool    // classes, too many for most learners
	Classifiers    string  // methods without steps
	HiddenUnits    int     // of the network on features
	Products       int     // random ones, which IWCDAN's discriminator sees of features; 0 is all
	Asked          string  // how all methods normalise columns; "" if each does as it assumes
	LabelShift     bool    // it is known that only class shares differ
	Aligned        string  // methods that take columns to have moved
	Own            string  // methods of a table with each domain's own statistics, for columns that may have moved
	Clip           float64 // 0 for never
	Rule           string
	HeldOut        float64
	RarestClass    string
	RarestRows     int
	TargetLabelled int
	length
}

// length is how long is trained.
type length struct {
	Batch  int
	Epochs int // of features
	Steps  int // in all
	Every  int // epochs between two halvings of the rate; steps between two evaluations
}

// What IWCDAN's discriminator sees of features: all products of hidden units and class
// probabilities, or random ones where they would take most of the time.
// research/comparisons/robustness.md has what was compared.
const (
	hiddenUnits    = 256
	mostProducts   = 5120
	randomProducts = 1024
)

// fewColumns is the number of columns below which rows are those of a table, whose columns measure
// different things; research/suite has what was compared.
const fewColumns = 48

// mostMatched is the number of columns up to which matching takes seconds, by whose cube it grows:
// 4,096 take a minute.
const mostMatched = 2048

// mostBoosted is the number of source values, times classes, up to which boosting takes a few seconds.
const mostBoosted = 1 << 20

// The values of [Naming].Form.
const (
	Table = "table" // each column means the same in both domains
	Array = "array" // all columns may have moved
)

// table tells whether the data are one.
func (d Data) table() bool {
	return d.Kind == catalogue.Vectors && (d.Form == Table || d.Form == "" && d.columns() < fewColumns)
}

// columns is the number of the columns that a table came with: one of words counts once.
func (d Data) columns() int { return cmp.Or(len(d.Learnt.Encoding), d.Width) }

// products returns how many random products IWCDAN's discriminator sees; 0 stands for all.
func (d Data) products() int {
	if hiddenUnits*len(d.Classes) <= mostProducts {
		return 0
	}
	return randomProducts
}

// The length of training: enough steps for a small network to come to rest, however few
// rows there are, and to see each of many classes often enough, and enough passes for the class
// weights, which are estimated after each, however many; and more as long as all runs
// then take a minute and a half or so on two cores, most of all with many rows, where longer
// training goes on to gain. research/comparisons/robustness.md has what was compared.
const (
	fewestSteps  = 1200
	usualSteps   = 2400
	longSteps    = 3600   // of longRows rows and more in the larger domain
	longRows     = 5000   // where fewer rows lose by it
	stepValues   = 14.4e9 // steps times values of the larger domain, from there down to the fewest
	classSteps   = 10     // a class, where that is more
	fewestEpochs = 8
	fewestAsked  = 3   // if steps are asked for: the second aligns the domains, the third with class weights
	mostEpochs   = 300 // unless steps are asked for
	halvings     = 2   // of the learning rate, over the run
	largestBatch = 128
	heldOut      = 0.1

	imageSteps       = 2000
	imageEvaluations = 10
	largestOfImages  = 32 // rows of a batch
)

// SmallNetwork is the value of [Options].Network for a small network from scratch.
const SmallNetwork = "small"

// Experiment returns the experiment file for the data, by Steps, Network and LabelShift of the options,
// and with all methods normalising columns as Set says. The same arguments give the same bytes.
func (d Data) Experiment(o Options) ([]byte, error) {
	switch {
	case o.Network != "" && o.Network != SmallNetwork:
		return nil, fmt.Errorf("there is no network %q to ask for: want %s, or none for what suits the data", o.Network, SmallNetwork)
	case o.Network != "" && d.Kind == catalogue.Vectors:
		return nil, fmt.Errorf("the network %s is for images; rows of features have one that suits them", o.Network)
	case d.Form != "" && d.Kind != catalogue.Vectors:
		return nil, fmt.Errorf("--%s is for rows of features, not for images", d.Form)
	case o.LabelShift && d.Kind != catalogue.Vectors:
		return nil, errors.New("--label-shift is for rows of features; of images, one method predicts: with --set methods=[source-only] nothing is aligned")
	}
	asked := askedFor(o.Set)
	paths := convert.Each(d.sources(), func(of Domain) string { return filepath.Base(of.Path) })
	rarest, rows := d.Source.rarest()
	s := settings{
		Data:     d,
		Title:    strings.Join(slices.Compact(paths), " + ") + " → " + filepath.Base(d.Target.Path),
		Sources:  d.sources(),
		Features: d.Kind == catalogue.Vectors, Small: o.Network == SmallNetwork, Table: d.table(), Stepless: d.table() || o.alone != nil, Many: learners.CheckClasses(len(d.Classes)) != nil, HiddenUnits: hiddenUnits, Products: d.products(),
		Rule: selection.TargetRisk.Name, HeldOut: heldOut,
		RarestClass: d.Classes[rarest], RarestRows: rows,
		TargetLabelled: d.Target.labelled(),
		Asked:          asked,
		LabelShift:     o.LabelShift,
		length:         d.length(o.Steps),
	}
	if len(d.Columns.Clipped) > 0 && !o.LabelShift && (asked == "" || normalise.Standardises(asked)) {
		s.Clip = clipAt
	}
	classifiers := d.classifiers(s.Stepless)
	s.Classifiers = strings.Join(classifiers, ", ")
	if s.Table && !o.LabelShift && asked == "" && len(classifiers) > 1 {
		s.Own = "source-only@linear-own"
		if d.boostsFast() {
			s.Own += ", source-only@boosting-own"
		}
	}
	switch {
	case asked != "":
		s.Aligned = "iwcdan"
	case d.Width <= mostMatched:
		s.Aligned = "iwcdan@own, iwcdan@matched"
	default:
		s.Aligned = "mcc@own, iwcdan@own"
	}
	var text bytes.Buffer
	if err := experimentTemplate.Execute(&text, s); err != nil {
		return nil, fmt.Errorf("cannot write the experiment file: %w", err)
	}
	return text.Bytes(), nil
}

// classifiers returns the methods without steps, by themselves or beside networks.
func (d Data) classifiers(alone bool) []string {
	methods := []string{"source-only@linear"}
	if learners.CheckClasses(len(d.Classes)) != nil {
		return methods
	}
	if alone {
		methods = append(methods, "source-only@perceptron")
	}
	methods = append(methods, "source-only@forest")
	if d.table() || d.boostsFast() {
		methods = append(methods, "source-only@boosting")
	}
	return methods
}

// boostsFast tells whether boosting takes a few seconds.
func (d Data) boostsFast() bool { return d.Source.Rows*d.Width*len(d.Classes) <= mostBoosted }

// length returns how long is trained on the data, some so many steps; 0 stands for what is
// usual.
func (d Data) length(steps int) length {
	larger, pass, fewest := d.Target.Rows, d.Target.Rows, d.Target.Rows
	for _, source := range d.sources() {
		larger, pass, fewest = max(larger, source.Rows), max(pass, source.trained()), min(fewest, source.trained())
	}
	if d.Kind != catalogue.Vectors { // a batch is drawn from each domain without replacement
		every := max(1, cmp.Or(steps, imageSteps)/imageEvaluations)
		return length{Batch: batchFor(fewest, largestOfImages), Steps: every * imageEvaluations, Every: every}
	}
	batch := batchFor(pass, largestBatch)
	epoch := pass / batch
	most := usualSteps
	if larger >= longRows {
		most = longSteps
	}
	usual := min(max(stepValues/(larger*d.Width), fewestSteps), most)
	epochs := min(max(max(usual, classSteps*len(d.Classes))/epoch, fewestEpochs), mostEpochs)
	if steps > 0 {
		epochs = max(fewestAsked, steps/epoch)
	}
	return length{Batch: batch, Epochs: epochs, Steps: epochs * epoch, Every: max(1, epochs/(halvings+1))}
}

// trained is the number of a source's rows that training sees: those that are not held out.
func (d Domain) trained() int {
	rows := d.Rows
	for _, n := range d.Counts {
		rows -= datasets.HeldOut(heldOut, n)
	}
	return rows
}

// lengthSet returns the assignments by which an experiment on the data takes some so many
// steps, as [Data.Experiment] would have it.
func (d Data) lengthSet(steps int) []string {
	l := d.length(steps)
	reversal := fmt.Sprintf("discriminator.reversal.iterations=%d", l.Steps)
	if d.Kind != catalogue.Vectors {
		return []string{fmt.Sprintf("train.steps=%d", l.Steps), fmt.Sprintf("train.eval_every=%d", l.Every), reversal}
	}
	return []string{fmt.Sprintf("train.epochs=%d", l.Epochs), fmt.Sprintf("train.schedule.every=%d", l.Every), reversal}
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
