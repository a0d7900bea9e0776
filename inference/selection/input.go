package selection

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Input is what criteria read of one candidate: k classes, n_s held-out source rows, n_t
// target rows. What is not known is nil. Criteria change nothing of it.
type Input struct {
	SourceLogits *mat.Dense // n_s×k, of rows that were never trained on
	SourceLabels []int      // n_s classes, from 0
	TargetLogits *mat.Dense // n_t×k

	// What all candidates share.
	ClassWeights []float64 // w (k): the target's class shares over the source's, at least 0
	TargetShares []float64 // q (k), sum 1
	Votes        []int     // n_t classes that the ensemble of all candidates predicts
}

// classes returns k.
func (in Input) classes() int {
	for _, logits := range []*mat.Dense{in.TargetLogits, in.SourceLogits} {
		if logits != nil {
			return logits.RawMatrix().Cols
		}
	}
	return 0
}

// checkFinite checks that matrices hold numbers.
func (in Input) checkFinite() error {
	for _, m := range []struct {
		name   string
		matrix *mat.Dense
	}{
		{"SourceLogits", in.SourceLogits}, {"TargetLogits", in.TargetLogits},
	} {
		if m.matrix == nil {
			continue
		}
		rows, _ := m.matrix.Dims()
		for i := range rows {
			for j, v := range m.matrix.RawRowView(i) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("%s: row %d, column %d is %v", m.name, i, j, v)
				}
			}
		}
	}
	return nil
}

// mustFit panics if the parts are not of as many rows and classes as each other.
func (in Input) mustFit() {
	k := in.classes()
	rowsOf := func(m *mat.Dense) (rows int, fits bool) {
		if m == nil {
			return 0, true
		}
		return m.RawMatrix().Rows, m.RawMatrix().Cols == k
	}
	n, source := rowsOf(in.SourceLogits)
	m, target := rowsOf(in.TargetLogits)
	ofClasses := func(v []float64) bool { return v == nil || len(v) == k }
	if !source || !target || len(in.SourceLabels) != n || in.Votes != nil && len(in.Votes) != m || !ofClasses(in.ClassWeights) || !ofClasses(in.TargetShares) {
		panic(fmt.Sprintf("selection: the parts do not fit %d source rows, %d target rows and %d classes", n, m, k))
	}
}

// softmax returns the probabilities of each row of logits over a temperature.
func softmax(logits *mat.Dense, temperature float64) *mat.Dense {
	var p mat.Dense
	p.CloneFrom(logits)
	rows, _ := p.Dims()
	for i := range rows {
		row := p.RawRowView(i)
		largest := floats.Max(row)
		for j, z := range row {
			row[j] = math.Exp((z - largest) / temperature)
		}
		floats.Scale(1/floats.Sum(row), row)
	}
	return &p
}

// crossEntropies returns -log p_y of each row.
func crossEntropies(logits *mat.Dense, labels []int) []float64 {
	losses := make([]float64, len(labels))
	for i, label := range labels {
		row := logits.RawRowView(i)
		losses[i] = floats.LogSumExp(row) - row[label]
	}
	return losses
}

// predictions returns the class of the largest entry of each row, the first of equal ones.
func predictions(logits *mat.Dense) []int {
	rows, _ := logits.Dims()
	classes := make([]int, rows)
	for i := range classes {
		classes[i] = floats.MaxIdx(logits.RawRowView(i))
	}
	return classes
}

// agreement returns the share of rows whose predictions are these classes.
func agreement(logits *mat.Dense, classes []int) float64 {
	agree := 0
	for i, predicted := range predictions(logits) {
		if predicted == classes[i] {
			agree++
		}
	}
	return float64(agree) / float64(len(classes))
}

// columnMeans returns the mean of the rows.
func columnMeans(m *mat.Dense) []float64 {
	rows, columns := m.Dims()
	means := make([]float64, columns)
	for i := range rows {
		floats.Add(means, m.RawRowView(i))
	}
	floats.Scale(1/float64(rows), means)
	return means
}

// rowEntropies returns the entropy of each row.
func rowEntropies(p *mat.Dense) []float64 {
	rows, _ := p.Dims()
	h := make([]float64, rows)
	for i := range h {
		h[i] = stat.Entropy(p.RawRowView(i))
	}
	return h
}
