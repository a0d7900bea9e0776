package labels

import (
	"fmt"
	"slices"

	"iwda/datasets/table"
	"iwda/inference/evaluation"
	"iwda/internal/printable"
)

// Evaluation is what labels of some rows say of what was predicted. Shares are fractions of 1,
// intervals of 95%.
type Evaluation struct {
	Format      int      `json:"format"`
	Rows        int      `json:"rows"`   // that were predicted
	Labels      int      `json:"labels"` // rows with a label
	Predictions Accuracy `json:"predictions"`
	Methods     []Method `json:"methods,omitempty"` // each with all its runs, by itself
	Recalls     []Recall `json:"recalls,omitempty"` // of the classes that have labels
	// Shares are the classes' shares of all rows, by the labels and what was predicted.
	Shares []ClassShare `json:"class_shares,omitempty"`
	Notes  []string     `json:"notes"` // what else there is to know, sentences
	// Choice says, if the labels were to choose a method, what came of it.
	Choice string `json:"choice,omitempty"`
}

// format is the number of the form of an evaluation as JSON.
const format = 1

// Accuracy is that of predictions.
type Accuracy struct {
	*evaluation.Estimate     // nil without labels
	Right                int `json:"right"` // of the rows with a label
	// Interval is prediction-powered; wilson if fewer than ten of these rows are right, or wrong.
	Interval string `json:"interval,omitempty"`
}

// Method is one that could predict.
type Method struct {
	Method   string   `json:"method"`
	Runs     []string `json:"runs"`
	Accuracy Accuracy `json:"accuracy"`
	// Difference is by how much more of the rows it is right in than the predictions.
	Difference evaluation.Difference `json:"difference"`
	Same       bool                  `json:"same"` // both predict the same of every row
}

// Recall is how many of a class's rows are predicted to be of it.
type Recall struct {
	Class  string `json:"class"`
	Labels int    `json:"labels"` // rows with that label
	Right  int    `json:"right"`
	// Recall is missing if too few rows have the label.
	Recall *evaluation.Estimate `json:"recall,omitempty"`
}

// fewestOfClass is the number of labels of a class below which its recall says next to nothing.
const fewestOfClass = 10

// Evaluate says how often predictions are right.
func Evaluate(labels Labels, p *Predictions) *Evaluation {
	e := &Evaluation{Format: format, Rows: len(p.Class), Labels: len(labels.Rows), Notes: []string{}}
	scores := scoresOf(labels, p)
	e.Predictions = accuracy(scores, 1)
	e.recall(labels, scores.Right)
	for _, r := range e.Recalls {
		if !slices.Contains(p.Classes, r.Class) {
			e.Notes = append(e.Notes, fmt.Sprintf("No row is predicted as class %q, the true class of %s.", r.Class, printable.Count(r.Labels, "labelled row")))
		}
	}
	e.shares(labels, p)
	return e
}

// ClassShare is the share of a class among all rows.
type ClassShare struct {
	Class     string              `json:"class"`
	Labels    int                 `json:"labels"` // rows with that label
	Predicted float64             `json:"predicted_share"`
	Share     evaluation.Estimate `json:"share"`
}

// shares adds the classes' shares: those of the predictions, less what labels say that these err.
func (e *Evaluation) shares(labels Labels, p *Predictions) {
	classes, places := slices.Clone(p.Classes), map[string]int{}
	for _, l := range labels.Rows {
		if !slices.Contains(classes, l.Class) {
			classes = append(classes, l.Class)
		}
	}
	table.SortClasses(classes)
	for i, class := range classes {
		places[class] = i
	}
	k, mean, said := len(classes), make([]float64, len(classes)), evaluation.Labelled{}
	for row := range p.Class {
		mean[places[p.of(row)]] += 1 / float64(len(p.Class))
	}
	counts := make([]int, k)
	for i, l := range labels.Rows {
		predicted := make([]float64, k)
		predicted[places[p.of(p.Labelled[i])]] = 1
		said.Classes, said.Expected = append(said.Classes, places[l.Class]), append(said.Expected, predicted...)
		said.Groups = labels.addGroup(said.Groups, l)
		counts[places[l.Class]]++
	}
	for i, share := range evaluation.ClassShares(said, k, len(p.Class), mean) {
		e.Shares = append(e.Shares, ClassShare{classes[i], counts[i], mean[i], share})
	}
}

// accuracy is that of what has these scores, one among so many whose intervals hold together.
func accuracy(scores evaluation.Scores, among int) (a Accuracy) {
	for _, right := range scores.Right {
		a.Right += int(right)
	}
	a.estimate(scores, among)
	return a
}

// scoresOf are what labels say of predictions.
func scoresOf(labels Labels, p *Predictions) evaluation.Scores {
	s := unscored(labels)
	for i, row := range p.Labelled {
		score(s, i, labels.Rows[i].Class == p.of(row), p.Confidence[row])
	}
	for _, f := range p.Confidence {
		s.All.Add(f)
	}
	return s
}

// unscored are scores of labelled rows of which nothing is said yet.
func unscored(labels Labels) (s evaluation.Scores) {
	s.Right, s.Expected = make([]float64, len(labels.Rows)), make([]float64, len(labels.Rows))
	for _, l := range labels.Rows {
		s.Groups = labels.addGroup(s.Groups, l)
	}
	return s
}

// score sets whether what is said of labelled row i is right.
func score(s evaluation.Scores, i int, right bool, confidence float64) {
	if right {
		s.Right[i] = 1
	}
	s.Expected[i] = confidence
}

// estimate sets what follows from labelled rows that were drawn at random.
func (a *Accuracy) estimate(scores evaluation.Scores, among int) {
	estimate, powered := evaluation.Accuracy(scores, among)
	a.Estimate = &estimate
	if a.Interval = "wilson"; powered {
		a.Interval = "prediction-powered"
	}
}

// recall adds the recalls, if the labelled rows are right (1) or not.
func (e *Evaluation) recall(labels Labels, rowRight []float64) {
	right, groups := map[string][]float64{}, map[string][]int{}
	var classes []string
	for i, l := range labels.Rows {
		if right[l.Class] == nil {
			classes = append(classes, l.Class)
		}
		right[l.Class] = append(right[l.Class], rowRight[i])
		groups[l.Class] = labels.addGroup(groups[l.Class], l)
	}
	table.SortClasses(classes)
	for _, class := range classes {
		r := Recall{Class: class, Labels: len(right[class])}
		for _, hit := range right[class] {
			r.Right += int(hit)
		}
		if r.Labels >= fewestOfClass {
			estimate := evaluation.Share(right[class], groups[class], len(labels.Rows), e.Rows)
			r.Recall = &estimate
		}
		e.Recalls = append(e.Recalls, r)
	}
}

// Rival is a method beside predictions of the same rows.
type Rival struct {
	labels Labels
	p      *Predictions
	places map[int]int // of the rows with labels among these
	row    int
	scores evaluation.Scores
	same   bool // so far
}

// NewRival returns a method of which nothing is known yet.
func NewRival(labels Labels, p *Predictions) *Rival {
	r := &Rival{labels: labels, p: p, places: map[int]int{}, scores: unscored(labels), same: true}
	for i, row := range p.Labelled {
		r.places[row] = i
	}
	return r
}

// Add tells what the method predicts of the next row, which must be that of the predictions.
func (r *Rival) Add(id, class string, confidence float64) error {
	label, labelled := r.places[r.row]
	if r.row >= len(r.p.Class) || labelled && r.labels.Rows[label].ID != table.WrittenID(id) {
		return fmt.Errorf("row %d of the target has the id %.100q, but in %s this row has another id: the target has changed since; run iwrun adapt again", r.row, id, r.p.Path)
	}
	if labelled {
		score(r.scores, label, r.labels.Rows[label].Class == class, confidence)
	}
	r.scores.All.Add(confidence)
	r.same = r.same && r.p.of(r.row) == class
	r.row++
	return nil
}

// Method says how often the method is right, once it has been told of all rows. The intervals of so many
// methods hold together: those of the best of them, too, which the same labels find.
func (r *Rival) Method(name string, runs []string, among int) (Method, error) {
	if r.row != len(r.p.Class) {
		return Method{}, fmt.Errorf("the target has %s, but %s has %d: the target has changed since; run iwrun adapt again", printable.Count(r.row, "row"), r.p.Path, len(r.p.Class))
	}
	difference := evaluation.Compare(r.scores, scoresOf(r.labels, r.p), among)
	return Method{name, runs, accuracy(r.scores, among), difference, r.same}, nil
}

// significance is the level of the test by which a method is clearly better.
const significance = 0.05

// Best returns the method that labels choose in the place of the predictions: the one that is
// right in most more rows, if that is clear. p bounds the probability that one of the others seems to be
// as much better, or more, if none of them is (Bonferroni). Without a method that predicts anything else it
// returns nil, and clear is false if chance may well have made the difference.
func (e *Evaluation) Best() (best *Method, p float64, clear bool) {
	others := 0
	for i, m := range e.Methods {
		if m.Same {
			continue
		}
		others++
		if best == nil || m.Difference.Value > best.Difference.Value {
			best = &e.Methods[i]
		}
	}
	if best == nil {
		return nil, 1, false
	}
	p = min(1, best.Difference.P/2*float64(others)) // half, as only one end of the test is that of a better one
	return best, p, best.Difference.Value > 0 && p < significance
}
