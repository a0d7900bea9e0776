// Package trust says what is known of predictions in a target without labels: what follows from each
// thing that may have happened, what speaks for and against that, and whether it is enough for what
// somebody needs. It has the words of iwrun adapt, iwrun labelshift and outcome.json. gonum only.
package trust

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/inference/classshares"
	"iwda/inference/floor"
	"iwda/internal/convert"
	"iwda/internal/evenly"
	"iwda/weightest"
	"iwda/weightest/intervals"
	"iwda/weightest/shifttest"
)

// Number is an estimate with the ends of its 95% interval. What is not known is nil: a lower bound has
// its lower end alone.
type Number struct {
	Value *float64 `json:"value,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// NumberOf is that of an estimate with an interval.
func NumberOf(value, low, high float64) Number { return Number{&value, &low, &high} }

// Of is the number; one of nothing for nil.
func (n *Number) Of() Number {
	if n == nil {
		return Number{}
	}
	return *n
}

// String is the number in percent; "" if nothing is known.
func (n Number) String() string {
	const wide = 0.5 // so that the estimate says nothing beside the ends
	switch {
	case n.Value != nil && n.Low != nil && *n.High-*n.Low >= wide:
		return fmt.Sprintf("%.0f to %.0f%%", 100**n.Low, 100**n.High)
	case n.Value != nil && n.Low != nil:
		return fmt.Sprintf("%.1f%% (%.1f–%.1f%%)", 100**n.Value, 100**n.Low, 100**n.High)
	case n.Value != nil:
		return fmt.Sprintf("about %.0f%%", 100**n.Value)
	case n.Low != nil:
		return fmt.Sprintf("at least %.0f%%", math.Floor(100**n.Low))
	}
	return ""
}

// Case is one of the things that may have happened, with what follows for the accuracy of predictions.
type Case struct {
	If       string `json:"if"` // one of the texts below
	Accuracy Number `json:"accuracy"`
	For      string `json:"for,omitempty"`     // what speaks for it
	Against  string `json:"against,omitempty"` // and against
	Missing  string `json:"missing,omitempty"` // why there is no accuracy
}

// Unless is what speaks against a floor.
const Unless = "rows like the source's may have other classes in the target"

// What may have happened.
const (
	OnlyShares = "only class shares differ"
	Selected   = "rows were selected by their values"
	Anything   = "nothing is known"
	Labels     = "labels"
)

// Class is what is known of a class. Shares are fractions of the target's rows.
type Class struct {
	Name      string
	Share     Number  // estimated, if only class shares differ
	Mean      float64 // of the probabilities, uncorrected
	Predicted float64
	Recall    *Number // of what is predicted; nil if nothing is known
	Precision *Number
}

// Known is what is known of predictions of so many rows.
type Known struct {
	Cases   []Case
	Classes []Class
	Rows    int
	// Rejected says what speaks against class shares alone, so that their estimates are not to be
	// believed; "" if nothing does.
	Rejected string
	// Uncertainty is that of the class shares; nil without intervals.
	Uncertainty *intervals.Uncertainty
}

// Predictions are a class for each of m target rows, whose accuracy is asked.
type Predictions struct {
	Classes []int
	Plain   []float64 // calibrated probabilities for the source's class shares (m×k)
	// Claimed is the mean probability of Classes, corrected for the target's class shares. It counts
	// beside what the classifier of the shares says of them.
	Claimed float64
}

// Evidence is what is known beside class shares.
type Evidence struct {
	Test             shifttest.LabelShift
	AssumeLabelShift bool   // somebody says that only class shares changed
	Columns          string // what columns say against it, a clause; "" if nothing
	// Selection and NoSelection are what columns say for a selection of rows, and against it, clauses; "" for nothing.
	Selection, NoSelection string
	// Dependent says why rows are not independent, though nobody says which belong together; then nothing
	// that counts rows is said.
	Dependent string
	// Unfloored says why no floor is known, "" if one is looked for.
	Unfloored string
	// Bootstrap are the settings of intervals; of no replicas there are none.
	Bootstrap intervals.BootstrapSettings
}

// Usual are settings of a bootstrap that takes seconds.
var Usual = intervals.BootstrapSettings{Replicas: 200, Level: 0.95, Seed: 1}

// Classifier is one that has seen neither its held-out source rows nor the target's, with what it predicts
// of both.
type Classifier struct {
	*classshares.Shares
	HeldOut, Rows   classshares.Rows // of the source, and of the target
	Labels          []int            // of the n held-out rows
	OwnHeldOut, Own []int            // predicted classes (n and m)
}

// MostClasses is the number of classes above which resamples take minutes and a floor more: there are neither.
const MostClasses = 225

// ErrMinutes is wrapped by the error of classes whose resamples take minutes, and not hours.
var ErrMinutes = errors.New("take minutes")

// CheckResamples returns an error for k classes that are too many to resample beside all else.
func CheckResamples(k int) error {
	if err := weightest.CheckResamples(k); err != nil || k <= MostClasses {
		return err
	}
	return fmt.Errorf("resamples of %d classes %w", k, ErrMinutes)
}

// furthest is how far two opinions of the same predictions may be apart.
const furthest = 0.05

// Nothing is what is known of predictions if a classifier says nothing of them, for a reason.
func Nothing(names []string, why string) (k Known) {
	for _, happened := range []string{OnlyShares, Selected, Anything} {
		k.Cases = append(k.Cases, Case{If: happened, Missing: why})
	}
	for _, name := range names {
		k.Classes = append(k.Classes, Class{Name: name})
	}
	return k
}

// Of says what is known of predictions p, which may be those of several classifiers together, by a
// classifier that predicts under the same correction. What only class shares make of the accuracy is
// that of the classifier's own predictions, Σ share × recall: for p it is as much higher as the
// probabilities of p are above those of the classifier's, and the interval reaches down to what the
// classifier thinks of p. Claims that are more than five points from that do not count: alignment makes
// them too high, and a mean over networks that were trained briefly too low.
func Of(names []string, s Classifier, p Predictions, e Evidence) Known {
	k, m := len(names), len(p.Classes)
	known := Known{Rows: m}
	switch {
	case e.Test.Rejected():
		known.Rejected = e.Test.Verdict()
	case e.Columns != "" && !e.AssumeLabelShift:
		known.Rejected = e.Columns
	}
	corrected, err := s.Correct(0, m)
	if err != nil {
		return Nothing(names, err.Error())
	}
	ours, theirs := soft(corrected, s.Own, k), soft(corrected, p.Classes, k)
	plain := soft(p.Plain, p.Classes, k)
	var performance *classshares.Performance
	missing := e.Dependent
	if err := CheckResamples(k); missing == "" && err != nil {
		missing = err.Error()
	}
	if missing == "" && e.Bootstrap.Replicas == 0 {
		missing = "no intervals were asked for"
	}
	if missing == "" {
		of, err := s.Performance(s.OwnHeldOut, s.Own, e.Bootstrap)
		if err != nil {
			missing = err.Error()
		} else {
			performance, known.Uncertainty = &of, &of.Uncertainty
		}
	}
	shares := Case{If: OnlyShares, Missing: missing}
	shares.For, shares.Against = e.aboutShares()
	if performance != nil {
		a := performance.Accuracy
		up, down := p.Claimed-ours.right, theirs.right-ours.right
		if math.Abs(up-down) > furthest { // then the claims are not to be believed
			up = down
		}
		shares.Accuracy = NumberOf(clamp(a.Value+up), clamp(a.Low+min(0, up, down)), clamp(a.High+max(0, up, down)))
	}
	selected := Case{If: Selected, For: cmp.Or(e.Selection, known.Rejected), Against: e.NoSelection, Missing: e.Dependent}
	switch {
	case known.Rejected == "":
		selected.For, selected.Against = "", "nothing was found that differs but class shares"
	case e.NoSelection != "":
		selected.For = ""
	}
	if e.Dependent == "" {
		selected.Accuracy.Value = &plain.right
	}
	anything := Case{If: Anything, Missing: cmp.Or(e.Dependent, e.Unfloored)}
	if anything.Missing == "" {
		most := 1.0
		if low := shares.Accuracy.Low; low != nil && known.Rejected == "" {
			most = *low // that of less than is assumed is no higher
		}
		if found, err := s.floor(p.Classes, most); err != nil {
			anything.Missing = err.Error()
		} else {
			anything.Accuracy.Low, anything.Against = &found, Unless
			if found > plain.right {
				selected.Accuracy.Value = &found // whatever happened, no fewer are right
			}
		}
	}
	known.Cases = []Case{shares, selected, anything}
	for y, name := range names {
		c := Class{Name: name, Mean: plain.mass[y], Predicted: float64(plain.predicted[y]) / float64(m)}
		q := s.Target()[y]
		c.Share.Value = &q
		zero := 0.0
		switch {
		case plain.predicted[y] == 0:
			c.Recall = &Number{Value: &zero}
			if performance != nil && known.Rejected == "" {
				c.Recall = &Number{&zero, &zero, &zero}
			}
		case known.Rejected != "" && e.Dependent == "":
			recall, precision := plain.recall(y), plain.precision(y)
			c.Recall, c.Precision = &Number{Value: &recall}, &Number{Value: &precision}
		case performance != nil:
			of := performance.Classes[y]
			c.Recall = moved(of.Recall, theirs.recall(y)-ours.recall(y))
			c.Precision = moved(of.Precision, theirs.precision(y)-ours.precision(y))
		}
		if performance != nil && known.Rejected == "" {
			of := performance.Classes[y].Share
			c.Share = NumberOf(of.Value, of.Low, of.High)
		}
		known.Classes = append(known.Classes, c)
	}
	return known
}

// floor is what share of predictions is right at least. Its critic reads the classifier's logits, and the
// classifier stands for the predictions on the source, whose rows count by the estimated shares as if these were known,
// so that another bound may be lower: it is at most that. A floor that guessing reaches is an error.
func (s Classifier) floor(predicted []int, bound float64) (float64, error) {
	k := len(s.Target())
	most := floor.MostRows(k, k)
	switch {
	case slices.Contains(s.SpeaksFor, 0):
		return 0, errors.New("a class has no held-out row")
	case k > MostClasses:
		return 0, fmt.Errorf("a critic of %d classes would take hours", k)
	}
	features := func(rows classshares.Rows) *mat.Dense {
		if rows.Probabilities {
			return s.Logits(rows)
		}
		return mat.NewDense(len(rows.Values)/k, k, convert.Slice[float64](rows.Values))
	}
	onSource, onTarget := s.HeldOut.Drawn(k, most), s.Rows.Drawn(k, most)
	heldOut, target := s.HeldOut.Evenly(k, most), s.Rows.Evenly(k, most)
	of := floor.Source{Features: features(heldOut), Labels: evenly.Pick(s.Labels, onSource), Groups: heldOut.Groups}
	corrected := s.Classifier
	corrected.Calibration = s.Corrected(s.Target())
	probabilities := corrected.Of(heldOut)
	for i, label := range of.Labels {
		of.Predicted = append(of.Predicted, floats.MaxIdx(probabilities[i*k:(i+1)*k]))
		of.Weights = append(of.Weights, s.Estimate.Weights[label])
	}
	found, err := floor.Of(k, of, floor.Target{Features: features(target), Predicted: evenly.Pick(predicted, onTarget), Groups: target.Groups})
	if found = min(found, bound); err == nil && found <= 1/float64(k) {
		err = fmt.Errorf("the floor of %.1f%% is no higher than the accuracy of guessing one of %d classes", 100*found, k)
	}
	return found, err
}

// aboutShares says what speaks for and against class shares alone.
func (e Evidence) aboutShares() (reasons, against string) {
	if e.AssumeLabelShift {
		reasons = "you said so"
	}
	switch {
	case e.Test.Rejected():
		return reasons, e.Test.Verdict()
	case e.Columns != "":
		return reasons, e.Columns
	case !e.Test.Tested():
		return reasons, e.Test.Untested() + " to test it"
	case reasons == "":
		reasons = e.Test.Verdict()
	}
	return reasons, ""
}

// Softly is what probabilities say of predictions.
type softly struct {
	right     float64   // mean probability of what is predicted
	mass      []float64 // mean probability of each class
	hit       []float64 // that of rows predicted so
	predicted []int
	rows      float64
}

func soft(probabilities []float64, predicted []int, k int) softly {
	s := softly{mass: make([]float64, k), hit: make([]float64, k), predicted: make([]int, k), rows: float64(len(predicted))}
	for i, class := range predicted {
		row := probabilities[i*k : (i+1)*k]
		floats.AddScaled(s.mass, 1/s.rows, row)
		s.hit[class] += row[class] / s.rows
		s.predicted[class]++
	}
	s.right = floats.Sum(s.hit)
	return s
}

func (s softly) recall(class int) float64 { return s.hit[class] / max(s.mass[class], 1e-12) }

func (s softly) precision(class int) float64 {
	return s.hit[class] * s.rows / max(1, float64(s.predicted[class]))
}

// moved is an estimate for other predictions, for which it is as much higher, and whose interval reaches
// from one to the other.
func moved(a *classshares.Accuracy, by float64) *Number {
	if a == nil {
		return nil
	}
	n := NumberOf(clamp(a.Value+by), clamp(a.Low+min(0, by)), clamp(a.High+max(0, by)))
	return &n
}

func clamp(share float64) float64 { return max(0, min(1, share)) }
