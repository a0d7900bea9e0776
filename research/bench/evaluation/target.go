package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"iwda/adaptation/labels"
)

// rows of each target. Each is evaluated some times, with other rows labelled.
const (
	rows       = 5000
	perTarget  = 100
	classes    = 3
	difficulty = 4.0  // parameters of the Beta distribution of how likely a row is right, summed
	quantiles  = 1000 // of that distribution, of which each row has one
)

// kind says what a confidence is worth.
type kind string

const (
	calibrated kind = "calibrated"
	sure       kind = "too sure by half" // logits of twice the size
	useless    kind = "useless"
)

// target is rows whose classes are known, and what methods predict of them.
type target struct {
	truth   []int
	methods []method
}

type method struct {
	class      []int
	confidence []float64
}

// names are those of rows and of classes.
var names = func() (names []string) {
	for i := range rows {
		names = append(names, strconv.Itoa(i))
	}
	return names
}()

// drawTarget draws one on which methods have these accuracies. In that part of the rows each method
// predicts what the first does, and is as sure.
func drawTarget(accuracies []float64, shared float64, k kind, random *rand.Rand) target {
	var t target
	place := make([]int, rows) // how hard each row is, for all methods alike
	for i := range place {
		t.truth, place[i] = append(t.truth, random.IntN(classes)), random.IntN(quantiles)
	}
	for which, accuracy := range accuracies {
		m := method{}
		if which > 0 {
			accuracy = (accuracy - shared*accuracies[0]) / (1 - shared)
		}
		easy := make([]float64, quantiles)
		for i := range easy {
			easy[i] = distuv.Beta{Alpha: accuracy * difficulty, Beta: (1 - accuracy) * difficulty}.Quantile((float64(i) + 0.5) / quantiles)
		}
		for i, truth := range t.truth {
			if which > 0 && random.Float64() < shared {
				first := t.methods[0]
				m.class, m.confidence = append(m.class, first.class[i]), append(m.confidence, first.confidence[i])
				continue
			}
			p, class := easy[place[i]], truth
			if random.Float64() >= p {
				class = (truth + 1 + random.IntN(classes-1)) % classes
			}
			m.class, m.confidence = append(m.class, class), append(m.confidence, k.confidence(p, random))
		}
		t.methods = append(t.methods, m)
	}
	return t
}

// confidence of a row that is right with that probability.
func (k kind) confidence(p float64, random *rand.Rand) float64 {
	switch k {
	case sure:
		return p * p / (p*p + (1-p)*(1-p))
	case useless:
		return random.Float64()
	}
	return p
}

// accuracy is that of a method on all rows.
func (t target) accuracy(m method) float64 {
	right := 0
	for i, class := range m.class {
		if class == t.truth[i] {
			right++
		}
	}
	return float64(right) / rows
}

// label draws rows and labels them, as a user of to_label.csv does.
func (t target) label(n int, seed int64) (given labels.Labels, matched *labels.Predictions) {
	m := t.methods[0]
	matched = &labels.Predictions{Classes: names[:classes], Class: m.class, Confidence: m.confidence}
	draw := labels.NewDraw(n, seed)
	for i, class := range m.class {
		draw.Add(names[i], names[class], m.confidence[i])
	}
	for _, r := range draw.Rows() {
		row, _ := strconv.Atoi(r.ID)
		given.Rows = append(given.Rows, labels.Label{ID: r.ID, Class: names[t.truth[row]]})
		matched.Labelled = append(matched.Labelled, row)
	}
	return given, matched
}

// percent of draws, with the standard error of such a share.
func percent(count, draws int) string {
	p := float64(count) / float64(draws)
	return fmt.Sprintf("%.1f ± %.1f", 100*p, 100*math.Sqrt(p*(1-p)/float64(draws)))
}
