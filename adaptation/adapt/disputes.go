package adapt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"iwda/adaptation/judge"
	"iwda/adaptation/labels"
	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/config"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/internal/heading"
)

// assumes says what a run takes for granted.
func assumes(run config.Resolved) string {
	method, _ := config.ParseMethod(run.Method) // that of a planned run is known
	var said []string
	switch run.Network.Normalise {
	case normalise.OfSource:
		said = append(said, "columns mean the same in both domains")
	case normalise.Standard:
		said = append(said, "columns may have moved or been stretched")
	case normalise.Matched:
		said = append(said, "columns may have moved or been stretched, each by itself")
	}
	switch {
	case method.Alignment.Properties().Certain:
		said = append(said, "the target's classes are well separated")
	case method.Alignment != config.NoAlignment:
		said = append(said, "each class looks the same after alignment")
	}
	switch {
	case method.Weights != config.NoWeights:
		said = append(said, "class shares may differ")
	case method.Alignment != config.NoAlignment:
		said = append(said, "class shares are similar")
	}
	if said == nil {
		return "each class looks the same in both domains"
	}
	return strings.Join(said, "; ")
}

// disputes are what the methods say of the target's rows beside what predicts.
type disputes struct {
	methods []string     // that have runs
	assumed []string     // by each
	classes [][]int      // of each method, by its runs together
	used    []int        // what predicts
	certain []float64    // its probability
	changed []float64    // the share of rows on which each method says otherwise
	differ  []float64    // the share on which the seeds of each do not all say the same
	within  float64      // the share on which the runs that predict don't
	against []int        // the methods that do, by row
	rows    []int        // on which any does, those with most methods first, then the least certain
	written []labels.Row // the first of these, as they are predicted
	file    string       // that has them
}

// compareMethods says what each method and what is chosen predict of the rows that the candidates
// hold, corrected alike: only what they assume tells them apart.
func (o *conclusion) compareMethods(runs []plan.Run, models []model.Metadata, candidates []judge.Candidate) error {
	k := candidates[0].Classes
	probabilities := func(members []int) (sum []float64, differ float64, err error) {
		var first []int // classes of the first member
		var other []bool
		differing := 0
		for _, i := range members {
			p, err := models[i].Probabilities(candidates[i].Target, corrected(models[i].Shares, o.Correction))
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", candidates[i].Run, err)
			}
			classes := largest(k, p)
			if sum == nil {
				sum, first, other = make([]float64, len(p)), classes, make([]bool, len(classes))
			}
			for row, class := range classes {
				if class != first[row] && !other[row] {
					other[row] = true
					differing++
				}
			}
			floats.AddScaled(sum, 1/float64(len(members)), p)
		}
		return sum, float64(differing) / float64(len(first)), nil
	}
	p, within, err := probabilities(o.Predicting())
	if err != nil {
		return err
	}
	d := newDisputes(k, p)
	d.within = within
	for _, m := range o.Methods {
		if len(m.Runs) == 0 {
			continue
		}
		p, differ, err := probabilities(m.Runs)
		if err != nil {
			return err
		}
		d.add(m.Name, assumes(runs[m.Runs[0]].Config), k, p)
		d.differ = append(d.differ, differ)
	}
	d.rank()
	o.disputes = d
	return nil
}

// corrected are the class shares for which the probabilities of a run are corrected,
// nil for none.
func corrected(s model.Shares, c judge.Correction) []float64 {
	if s.Target == nil {
		return nil
	}
	return c.Shares(s.Classifier, s.Target)
}

// largest are the classes of the largest of each row's k probabilities.
func largest(k int, p []float64) (classes []int) {
	for row := range slices.Chunk(p, k) {
		classes = append(classes, floats.MaxIdx(row))
	}
	return classes
}

// newDisputes are those with predictions by these probabilities, rows × k.
func newDisputes(k int, p []float64) (d disputes) {
	for row := range slices.Chunk(p, k) {
		class := floats.MaxIdx(row)
		d.used, d.certain = append(d.used, class), append(d.certain, row[class])
	}
	d.against = make([]int, len(d.used))
	return d
}

// add counts where a method, by its probabilities, says otherwise.
func (d *disputes) add(name, assumed string, k int, p []float64) {
	classes, changed := largest(k, p), 0
	for i, class := range classes {
		if class != d.used[i] {
			d.against[i]++
			changed++
		}
	}
	d.methods, d.assumed = append(d.methods, name), append(d.assumed, assumed)
	d.classes, d.changed = append(d.classes, classes), append(d.changed, float64(changed)/float64(len(classes)))
}

// rank finds the rows in dispute.
func (d *disputes) rank() {
	for i, n := range d.against {
		if n > 0 {
			d.rows = append(d.rows, i)
		}
	}
	slices.SortStableFunc(d.rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.against[b], d.against[a]), cmp.Compare(d.certain[a], d.certain[b]))
	})
}

// mostDisputed bounds the rows that are named.
const mostDisputed = 50

// sentence says how many rows are in dispute.
func (d disputes) sentence() string {
	if len(d.rows) == 0 {
		return "All methods predict the same classes, so nothing depends on what they assume."
	}
	return fmt.Sprintf("On %d of %d rows the methods, which assume different things, predict different classes. %s has those on which most methods contradict the predictions; their labels would show which assumption holds.", len(d.rows), len(d.used), d.file)
}

// take returns what takes the predictions of all the target's rows in their order, and keeps those of
// the rows that are written; judged are the numbers of the rows that methods were compared on.
func (d *disputes) take(judged []int) func(id, class string, probability float64) {
	d.written = make([]labels.Row, min(len(d.rows), mostDisputed))
	places := map[int]int{} // of the target's rows among the written ones
	for i := range d.written {
		places[judged[d.rows[i]]] = i
	}
	row := 0
	return func(id, class string, probability float64) {
		if i, is := places[row]; is {
			d.written[i] = labels.Row{ID: id, Class: class, Confidence: probability}
		}
		row++
	}
}

// write writes the rows on which most methods say otherwise, as they were taken.
func (d disputes) write(path string, classes []string) error {
	fields := []table.Field{{Name: heading.ID}, {Name: heading.PredictedClass}, {Name: heading.Probability, Kind: table.ProbabilityField}}
	for _, method := range d.methods {
		fields = append(fields, table.Field{Name: method})
	}
	return table.WriteTable(path, fields, func(add func(...table.Cell) error) error {
		for i, r := range d.written {
			row := []table.Cell{{Text: r.ID}, {Text: r.Class}, {Number: r.Confidence}}
			for _, of := range d.classes {
				row = append(row, table.Cell{Text: classes[of[d.rows[i]]]})
			}
			if err := add(row...); err != nil {
				return err
			}
		}
		return nil
	})
}
