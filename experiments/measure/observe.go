package measure

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/datasets"
	"iwda/datasets/table"
	"iwda/experiments/domains"
	"iwda/experiments/store"
	"iwda/inference/classshares"
	"iwda/internal/evenly"
)

// Pass passes the rows of a set through a classifier once, and hands what it says of them to every taker in turn. It
// ends at the first error.
type Pass func(ctx context.Context, takers ...Taker) error

// Sets are those by which a run is measured.
type Sets struct {
	Test    Pass // of the target
	HeldOut Pass // rows of the source that training did not see; nil where none are held out, or Crossed has them
	Crossed *Crossed
}

// Crossed is what classifiers say, each of rows that it has not learnt from: of rows of the source, and
// of the target's judged rows.
type Crossed struct{ HeldOut, Target *Outputs }

// Observations are what a classifier says of the target's test rows and, where some are held
// out, of the source's.
type Observations struct {
	OnTest          Confusion
	predicted       *predictions
	heldOut, target *Outputs // nil where none are held out
	compared        *Outputs // of the target's rows, by what spoke of heldOut
	validation      *store.Validation
	unlabelled      bool // no test row has a label
}

// Observe passes these rows through the classifier, and by a taker more.
func Observe(ctx context.Context, about *domains.About, sets Sets, also Taker) (*Observations, error) {
	k := len(about.Classes)
	holds := sets.HeldOut != nil || sets.Crossed != nil
	o := &Observations{OnTest: NewConfusion(k), predicted: &predictions{sums: make([]float64, k)}, unlabelled: about.Labels.Test.Known() == 0}
	takers := []Taker{also, o.OnTest, o.predicted}
	if holds {
		o.target = &Outputs{Kept: store.JudgedRows(about.Labels.Test.Len())}
		if about.Groups.Test != nil {
			o.target.Groups = evenly.Pick(about.Groups.Test, o.target.Kept)
		}
		o.compared = o.target
		takers = append(takers, o.target)
	}
	if err := sets.Test(ctx, takers...); err != nil || !holds {
		return o, err
	}
	counts, loss := NewConfusion(k), &crossEntropy{}
	if sets.Crossed != nil {
		o.heldOut, o.compared = sets.Crossed.HeldOut, sets.Crossed.Target
		all := Batch{o.heldOut.Logits, datasets.KnownLabels(o.heldOut.Labels)}
		if err := errors.Join(counts.Take(all), loss.Take(all)); err != nil {
			return nil, err
		}
	} else {
		o.heldOut = &Outputs{Groups: about.Groups.HeldOut}
		if err := sets.HeldOut(ctx, also, counts, loss, o.heldOut); err != nil {
			return nil, err
		}
	}
	o.validation = &store.Validation{Rows: loss.rows, Accuracy: counts.Accuracy().Value, Loss: Mean(loss.sum, loss.rows).Value}
	return o, nil
}

// Describe sets in a line of metrics what is measured where target labels are missing, or
// where rows of the source are held out for it.
func (o *Observations) Describe(m *store.Metrics) {
	if o.unlabelled || o.heldOut != nil {
		m.Certainty = store.Measured(o.predicted.meanCertainty())
	}
	if v := o.validation; v != nil {
		m.ValidationAccuracy, m.ValidationLoss = store.Measured(v.Accuracy), store.Measured(v.Loss)
	}
}

// Taker takes what a classifier says of the rows of a set, batch by batch in the set's order. The
// values and labels of a batch are valid until Take returns.
type Taker interface {
	Take(Batch) error
}

// Batch is what a classifier says of n rows.
type Batch struct {
	Logits []float32       // n×k, or the n rows' features if these are asked for
	Labels datasets.Labels // of the rows
}

// width is k.
func (b Batch) width() int { return len(b.Logits) / b.Labels.Len() }

// Confusion counts the labelled rows by class (row) and prediction (column).
type Confusion [][]int

// NewConfusion counts no rows yet.
func NewConfusion(classes int) Confusion {
	counts := make(Confusion, classes)
	for c := range counts {
		counts[c] = make([]int, classes)
	}
	return counts
}

// Take counts the rows of a batch by their largest logits.
func (c Confusion) Take(b Batch) error {
	k := len(c)
	for i := range b.Labels.Len() {
		if class, known := b.Labels.At(i); known {
			c[class][table.Largest(b.Logits[i*k:(i+1)*k])]++
		}
	}
	return nil
}

// Accuracy is the share of the labelled rows that are classified right, if there are any.
func (c Confusion) Accuracy() store.Optional[float64] {
	right, total := 0, 0
	for class, row := range c {
		right += row[class]
		total += sum(row)
	}
	return Mean(float64(right), total)
}

// MeanClassAccuracy is the mean over the classes that occur of the share of their rows
// that are classified right, if any row has a label.
func (c Confusion) MeanClassAccuracy() store.Optional[float64] {
	shares, classes := 0.0, 0
	for class, row := range c {
		if total := sum(row); total > 0 {
			shares += float64(row[class]) / float64(total)
			classes++
		}
	}
	return Mean(shares, classes)
}

func sum(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

// Mean is that of n values by their sum; it is not measured of none.
func Mean(sum float64, n int) store.Optional[float64] {
	if n == 0 {
		return store.Optional[float64]{}
	}
	return store.Measured(sum / float64(n))
}

// predictions sums up the probabilities of rows, whatever their labels.
type predictions struct {
	sums      []float64 // of each class's probabilities
	certainty float64   // sum of the largest probabilities
	rows      int
}

func (p *predictions) Take(b Batch) error {
	probabilities := make([]float64, len(p.sums))
	for logits := range slices.Chunk(b.Logits, len(p.sums)) {
		logSoftmax(probabilities, logits)
		for class, log := range probabilities {
			probabilities[class] = math.Exp(log)
		}
		floats.Add(p.sums, probabilities)
		p.certainty += floats.Max(probabilities)
		p.rows++
	}
	return nil
}

// logSoftmax sets the logarithms of the probabilities by a row of logits.
func logSoftmax(logs []float64, logits []float32) {
	for class, logit := range logits {
		logs[class] = float64(logit)
	}
	floats.AddConst(-floats.LogSumExp(logs), logs)
}

// shares are the mean probabilities of the classes; there must be rows.
func (p *predictions) shares() []float64 {
	return floats.ScaleTo(make([]float64, len(p.sums)), 1/float64(p.rows), p.sums)
}

// meanCertainty is the mean of the largest probabilities; there must be rows.
func (p *predictions) meanCertainty() float64 { return p.certainty / float64(p.rows) }

// crossEntropy sums up the losses of the labelled rows.
type crossEntropy struct {
	sum  float64
	rows int
}

func (c *crossEntropy) Take(b Batch) error {
	k := b.width()
	logs := make([]float64, k)
	for i := range b.Labels.Len() {
		if class, known := b.Labels.At(i); known {
			logSoftmax(logs, b.Logits[i*k:(i+1)*k])
			c.sum -= logs[class]
			c.rows++
		}
	}
	return nil
}

// Outputs keeps what a classifier says of rows of a set.
type Outputs struct {
	Kept []int // the numbers of the rows that it keeps, ascending; nil keeps all
	seen int   // rows

	Width  int // of a row
	Logits []float32
	Labels []int // -1 where one is not known
	Groups []int // of the rows; nil if none are known
	Rows   []int // their numbers in the source, of rows that learners have judged in turn; nil of others
}

// Take keeps the rows of a batch that are asked for.
func (u *Outputs) Take(b Batch) error {
	u.Width = b.width()
	for i := range b.Labels.Len() {
		_, among := slices.BinarySearch(u.Kept, u.seen)
		u.seen++
		if u.Kept != nil && !among {
			continue
		}
		u.Logits = append(u.Logits, b.Logits[i*u.Width:(i+1)*u.Width]...)
		class, known := b.Labels.At(i)
		if !known {
			class = -1
		}
		u.Labels = append(u.Labels, class)
	}
	return nil
}

// rows are the logits as package classshares reads them.
func (u *Outputs) rows() classshares.Rows {
	return classshares.Rows{Values: u.Logits, Groups: u.Groups}
}
