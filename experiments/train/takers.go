package train

import (
	"math"
	"slices"
	"strings"

	"iwda/classshares"
	"iwda/datasets"
	"iwda/experiments/store"
	"iwda/nets"
	"iwda/torch"
)

// taker takes what the network says of the rows of a set, batch by batch in the set's
// order. The tensors and labels of a batch are valid until take returns.
type taker interface {
	take(rowOutputs) error
}

// rowOutputs are what a network in evaluation mode says of a batch of n rows.
type rowOutputs struct {
	logits torch.Tensor    // (n × k), or the n rows' features if these are asked for
	labels datasets.Labels // of the rows
}

// finite ends at an output that is not a finite number.
type finite struct{ step int }

func (f finite) take(o rowOutputs) error {
	return checkFinite("network's output in evaluation", o.logits, f.step)
}

// mustBeFinite tells what training changes, among it running means and variances, from other buffers
// of a user's module, of which some are meant to be infinite, such as masks of attention.
func mustBeFinite(e nets.Entry) bool {
	return e.Trained || strings.HasSuffix(e.Name, "running_mean") || strings.HasSuffix(e.Name, "running_var")
}

// checkFinite returns a [*DivergedError] if a tensor has a value that is not finite.
func checkFinite(term string, x torch.Tensor, step int) (err error) {
	torch.Tidy(func() {
		if sum := x.Detach().To(torch.Float64, torch.CPU).Sum().Item(); math.IsNaN(sum) || math.IsInf(sum, 0) {
			err = &DivergedError{term, sum, step}
		}
	})
	return err
}

// confusion counts the labelled rows by class (row) and prediction (column).
type confusion [][]int

func newConfusion(classes int) confusion {
	counts := make(confusion, classes)
	for c := range counts {
		counts[c] = make([]int, classes)
	}
	return counts
}

func (c confusion) take(o rowOutputs) error {
	for i, predicted := range torch.ToSlice[int64](o.logits.ArgMax(1)) {
		if class, known := o.labels.At(i); known {
			c[class][predicted]++
		}
	}
	return nil
}

// accuracy is the share of the labelled rows that are classified right, if there are any.
func (c confusion) accuracy() store.Optional[float64] {
	right, total := 0, 0
	for class, row := range c {
		right += row[class]
		total += sum(row)
	}
	return mean(float64(right), total)
}

// meanClassAccuracy is the mean over the classes that occur of the share of their rows
// that are classified right, if any row has a label.
func (c confusion) meanClassAccuracy() store.Optional[float64] {
	shares, classes := 0.0, 0
	for class, row := range c {
		if total := sum(row); total > 0 {
			shares += float64(row[class]) / float64(total)
			classes++
		}
	}
	return mean(shares, classes)
}

func sum(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

// predictions sums up the probabilities of rows, whatever their labels.
type predictions struct {
	sums      []float64 // of each class's probabilities
	certainty float64   // sum of the largest probabilities
	rows      int
}

func newPredictions(classes int) *predictions { return &predictions{sums: make([]float64, classes)} }

func (p *predictions) take(o rowOutputs) error {
	k := len(p.sums)
	probabilities := torch.ToSlice[float32](o.logits.Softmax(1))
	for ; len(probabilities) > 0; probabilities = probabilities[k:] {
		largest := float32(0)
		for class, probability := range probabilities[:k] {
			p.sums[class] += float64(probability)
			largest = max(largest, probability)
		}
		p.certainty += float64(largest)
		p.rows++
	}
	return nil
}

// shares are the mean probabilities of the classes; there must be rows.
func (p *predictions) shares() []float64 {
	shares := make([]float64, len(p.sums))
	for class, sum := range p.sums {
		shares[class] = sum / float64(p.rows)
	}
	return shares
}

// meanCertainty is the mean of the largest probabilities; there must be rows.
func (p *predictions) meanCertainty() float64 { return p.certainty / float64(p.rows) }

// crossEntropy sums up the losses of the labelled rows.
type crossEntropy struct {
	sum  float64
	rows int
}

func (c *crossEntropy) take(o rowOutputs) error {
	logProbabilities := torch.ToSlice[float32](o.logits.LogSoftmax(1))
	n := o.logits.Shape()[0]
	k := len(logProbabilities) / n
	for row := range n {
		if class, known := o.labels.At(row); known {
			c.sum -= float64(logProbabilities[row*k+class])
			c.rows++
		}
	}
	return nil
}

// outputs keeps what the network says of rows of a set.
type outputs struct {
	kept []int // the numbers of the rows that it keeps, ascending; nil keeps all
	seen int   // rows

	classes int
	logits  []float32
	labels  []int // -1 where one is not known
	groups  []int // of the rows; nil if none are known
}

// everyNth keeps rows at equal distances, of runs that hold nothing out: nothing is chosen by them,
// and the criteria in metrics.csv of the paper's runs stay the same.
func everyNth(rows, most int) *outputs {
	u := &outputs{}
	for row := 0; row < rows; row += (rows + most - 1) / most {
		u.kept = append(u.kept, row)
	}
	return u
}

// next reports whether the next row is kept.
func (u *outputs) next() bool {
	_, among := slices.BinarySearch(u.kept, u.seen)
	u.seen++
	return u.kept == nil || among
}

func (u *outputs) take(o rowOutputs) error {
	logits := torch.ToSlice[float32](o.logits)
	n := o.logits.Shape()[0]
	u.classes = len(logits) / n
	for i := range n {
		if !u.next() {
			continue
		}
		u.logits = append(u.logits, logits[i*u.classes:(i+1)*u.classes]...)
		class, known := o.labels.At(i)
		if !known {
			class = -1
		}
		u.labels = append(u.labels, class)
	}
	return nil
}

// rows are the logits as package classshares reads them.
func (u *outputs) rows() classshares.Rows {
	return classshares.Rows{Values: u.logits, Groups: u.groups}
}
