package classshares

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/evenly"
	"iwda/internal/gaussians"
	"iwda/internal/must"
	"iwda/weightest/intervals"
)

// maxima are the classes with the largest probabilities.
func maxima(probabilities []float64, k int) (classes []int) {
	for row := range slices.Chunk(probabilities, k) {
		classes = append(classes, floats.MaxIdx(row))
	}
	return classes
}

// Accuracy, shares and precisions hold the truth of a target in which only class shares changed, of rows on
// their own and in groups; what rows alone would say does not hold if there are groups.
func TestPerformance(t *testing.T) {
	const draws, k, n = 40, 3, 400
	for _, size := range []int{1, 8} {
		p := gaussians.Rising(k)
		p.Separation = []float64{1.5, 1.8, 2.1}
		p.Size, p.Common, p.Alike = size, 0.4, true
		random := rand.New(rand.NewPCG(41, uint64(size)))
		held, shares, of, alone := map[string]int{}, 0, map[string]int{}, 0
		width := 0.0
		for seed := range uint64(draws) {
			source, target := p.DrawSource(n, random), p.DrawTarget(2*n, random)
			predicted := maxima(target.Probabilities, k)
			right, hits, counts := 0.0, make([]float64, k), make([]float64, k)
			for i, class := range predicted {
				counts[class]++
				if target.Labels[i] == class {
					right += 1 / float64(len(predicted))
					hits[class]++
				}
			}
			ask := func(grouped bool) Performance {
				heldOut, rows := rowsOf(source.Probabilities), rowsOf(target.Probabilities)
				if grouped {
					heldOut.Groups, rows.Groups = source.Groups, target.Groups
				}
				s := fit(t, k, heldOut, source.Labels, rows, Settings{})
				return must.Have(s.Performance(maxima(source.Probabilities, k), predicted, intervals.BootstrapSettings{Seed: seed, Replicas: 100}))(t)
			}
			count := func(what string, a Accuracy, truth float64) {
				of[what]++
				if a.Low <= truth && truth <= a.High {
					held[what]++
				}
				if a.Low > a.Value || a.Value > a.High {
					t.Errorf("%s: %+v", what, a)
				}
			}
			got := ask(true)
			count("accuracy", got.Accuracy, right)
			width += (got.Accuracy.High - got.Accuracy.Low) / draws
			for y, class := range got.Classes {
				count("share", class.Share, p.Target[y])
				count("precision", *class.Precision, hits[y]/counts[y])
				if class.Predicted != int(counts[y]) || class.Recall.Low >= class.Recall.High {
					t.Errorf("class %d: %+v", y, class)
				}
			}
			if size > 1 {
				for y, class := range ask(false).Classes {
					shares++
					if class.Share.Low <= p.Target[y] && p.Target[y] <= class.Share.High {
						alone++
					}
				}
			}
		}
		// Of 40 intervals 38 are meant; fewer than 34 hold once in a hundred times.
		for what, times := range held {
			if 40*times < 34*of[what] {
				t.Errorf("groups of %d: %d of %d intervals of %s hold", size, times, of[what], what)
			}
		}
		if size > 1 && 100*alone > 80*shares {
			t.Errorf("%d of %d intervals of rows hold: the draws say nothing of groups", alone, shares)
		}
		if limit := []float64{0.13, 0.25}[min(1, size-1)]; width > limit {
			t.Errorf("groups of %d: the interval of the accuracy is %v wide", size, width)
		}
	}
}

// The number of the target's rows that are predicted right varies as much as is said, also where errors of two classes are
// opposite in a group, which cancel in the source's equal shares and not in the target's.
func TestInflation(t *testing.T) {
	const draws, n, right = 400, 600, 0.95543 // Φ(1.7)
	for _, alike := range []bool{false, true} {
		for _, target := range [][]float64{{0.5, 0.5}, {0.97, 0.03}} {
			p := gaussians.Rising(2)
			p.Target, p.Size, p.Common, p.Alike = target, 20, 0.4, alike
			random := rand.New(rand.NewPCG(51, 52))
			var variance, said float64
			for range draws {
				source, target := p.DrawSource(n, random), p.DrawTarget(n, random)
				heldOut, rows := rowsOf(source.Probabilities), rowsOf(target.Probabilities)
				heldOut.Groups, rows.Groups = source.Groups, target.Groups
				said += newConfusion(fit(t, 2, heldOut, source.Labels, rows, Settings{}), maxima(source.Probabilities, 2)).inflation / draws
				hits := 0.0
				for i, class := range maxima(target.Probabilities, 2) {
					if target.Labels[i] == class {
						hits++
					}
				}
				variance += (hits/n - right) * (hits/n - right) / draws
			}
			// The standard error is 8%.
			if got := said / (variance * n / (right * (1 - right))); got < 0.75 || got > 1.35 {
				t.Errorf("groups of one class %v, shares %v: the variance is said to be %.2f of what it is", alike, target, got)
			}
		}
	}
	// Where each source row is a group, nothing tells what rows of a group have in common: four target rows count as one.
	p, random := gaussians.Rising(2), rand.New(rand.NewPCG(53, 54))
	source, target := p.DrawSource(n, random), p.DrawTarget(n, random)
	heldOut, rows := rowsOf(source.Probabilities), rowsOf(target.Probabilities)
	heldOut.Groups, rows.Groups = evenly.All(n), evenly.All(n)
	for i := range rows.Groups {
		rows.Groups[i] /= 4
	}
	if got := newConfusion(fit(t, 2, heldOut, source.Labels, rows, Settings{}), maxima(source.Probabilities, 2)).inflation; math.Abs(got-4) > 1e-9 {
		t.Errorf("source rows on their own: the variance is said to be %.2f times that of rows", got)
	}
}

// A class that none of the target's 20 groups has may be 10% of them once in eight times, if rows of a group are of one
// class as in the source: target rows, which are all of the other one, cannot tell. Rows on their own would.
func TestAbsentClassOfGroups(t *testing.T) {
	p := gaussians.Rising(2)
	p.Target, p.Size = []float64{1, 0}, 30
	for _, alike := range []bool{false, true} {
		p.Alike = alike
		random := rand.New(rand.NewPCG(47, 48))
		for seed := range uint64(5) {
			source, target := p.DrawSource(600, random), p.DrawTarget(600, random)
			heldOut, rows := rowsOf(source.Probabilities), rowsOf(target.Probabilities)
			heldOut.Groups, rows.Groups = source.Groups, target.Groups
			known := must.Have(fit(t, 2, heldOut, source.Labels, rows, Settings{}).Bootstrap(intervals.BootstrapSettings{Seed: seed, Replicas: 100}))(t)
			if high := known.Shares.Each[1].High; alike && high < 0.12 || !alike && high > 0.08 {
				t.Errorf("groups of one class %v: the class is at most %v", alike, high)
			}
		}
	}
}

// Where the target lacks a class, of what is predicted to be of it nothing is, and all else is right.
func TestPrecisionOfAbsentClass(t *testing.T) {
	const draws, k = 40, 2
	p := gaussians.Rising(k)
	p.Target, p.Separation = []float64{1, 0}, []float64{1, 1}
	random, held := rand.New(rand.NewPCG(49, 50)), make([]int, k)
	for seed := range uint64(draws) {
		source, target := p.DrawSource(300, random), p.DrawTarget(1000, random)
		s := fit(t, k, rowsOf(source.Probabilities), source.Labels, rowsOf(target.Probabilities), Settings{})
		got := must.Have(s.Performance(maxima(source.Probabilities, k), maxima(target.Probabilities, k), intervals.BootstrapSettings{Seed: seed, Replicas: 100}))(t)
		for y, class := range got.Classes {
			if of := *class.Precision; of.Low <= p.Target[y] && p.Target[y] <= of.High {
				held[y]++
			}
		}
	}
	// 38 of 40 are meant; fewer than 34 hold once in a hundred times.
	for y, times := range held {
		if times < 34 {
			t.Errorf("class %d: %d of %d intervals hold", y, times, draws)
		}
	}
}

// Recalls are those of the target's own rows, of which there may be few.
func TestRecallOfFewRows(t *testing.T) {
	const draws, k = 60, 2
	p := gaussians.Rising(k)
	random, held, of := rand.New(rand.NewPCG(45, 46)), 0, 0
	for seed := range uint64(draws) {
		source, target := p.DrawSource(600, random), p.DrawTarget(50, random)
		predicted := maxima(target.Probabilities, k)
		s := fit(t, k, rowsOf(source.Probabilities), source.Labels, rowsOf(target.Probabilities), Settings{})
		got := must.Have(s.Performance(maxima(source.Probabilities, k), predicted, intervals.BootstrapSettings{Seed: seed, Replicas: 20}))(t)
		for y, class := range got.Classes {
			right, rows := 0.0, 0.0
			for i, label := range target.Labels {
				if label == y {
					if rows++; predicted[i] == y {
						right++
					}
				}
			}
			if rows == 0 {
				continue
			}
			if of++; class.Recall.Low <= right/rows && right/rows <= class.Recall.High {
				held++
			}
		}
	}
	// 95% are meant; of 120, fewer than 106 hold once in a hundred times.
	if 120*held < 106*of {
		t.Errorf("%d of %d hold", held, of)
	}
}

// Nothing is known of the recall of a class without held-out rows, nor of the precision of one that is never
// predicted; the accuracy's interval knows it.
func TestPerformanceOfUnknown(t *testing.T) {
	p := gaussians.Rising(2)
	random := rand.New(rand.NewPCG(43, 44))
	source, target := p.DrawSource(300, random), p.DrawTarget(300, random)
	s := fit(t, 2, rowsOf(source.Probabilities), source.Labels, rowsOf(target.Probabilities), Settings{})
	got, err := s.Performance(make([]int, 300), make([]int, 300), intervals.BootstrapSettings{Replicas: 100})
	if err != nil || got.Classes[1].Precision != nil || got.Classes[1].Recall.Value != 0 || got.Classes[0].Recall.Value != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if share := s.Target()[0]; got.Accuracy.Low > share || got.Accuracy.High < share {
		t.Errorf("all rows are predicted as the first class, whose share is %v: %+v", share, got.Accuracy)
	}
	if _, err := s.Performance(make([]int, 299), make([]int, 300), intervals.BootstrapSettings{}); err == nil {
		t.Error("a held-out row without a prediction is no error")
	}
}

func fit(t testing.TB, classes int, heldOut Rows, labels []int, target Rows, s Settings) *Shares {
	t.Helper()
	return must.Have(Fit(classes, heldOut, labels, target, s))(t)
}
