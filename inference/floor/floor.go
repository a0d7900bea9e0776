// Package floor bounds the accuracy of predictions on a target without labels from below, by how
// far a linear critic can contradict them there while it goes along with a classifier on the source
// (disagreement discrepancy: Rosenfeld and Garg 2023). gonum only; the same input gives the same
// bits.
//
// Let y be the true labelling, h the predictions, and dis the share of a domain's rows on which two
// labellings differ. As the error of h is dis(h, y), for every labelling of the true kind
//
//	err_T(h) = err_S(h) + Δ(y),   Δ(g) = dis_T(h, g) - dis_S(h, g).
//
// That is an identity, whatever weights source rows have and even if h is one classifier on the
// source and another on the target. Nobody knows Δ(y). A critic g is trained to make Δ(g) large, and
// if the truth is no stranger than the critic, Δ(y) ≤ Δ(g), then err_T(h) ≤ err_S(h) + Δ(g).
//
// On rows on which g was not trained, this is the mean over the source of 1{h≠y} - 1{h≠g}, which
// lies in [-1, 1], plus the mean over the target of 1{h≠g}, in [0, 1]. By Hoeffding's inequality it is
// too low by more than t with a probability of at most
//
//	exp(-2 t² / (4 Σw²/(Σw)² + 1/n_T)),
//
// which for equal weights w is the paper's t = √((n_S + 4 n_T) ln(1/δ) / (2 n_S n_T)). Most terms
// are 0, so that the normal distribution with their variance is much nearer: [Of] takes that, after
// each domain has got one more row, of the worst kind.
package floor

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/clusters"
	"iwda/internal/evenly"
)

// Source are n labelled rows that neither features nor predictions were fitted to.
type Source struct {
	Features  *mat.Dense // n×d
	Labels    []int      // n classes, from 0
	Predicted []int      // n classes: h
	Weights   []float64  // n, positive: how many target rows each stands for, but for a factor
	Groups    []int      // n numbers of rows that belong together; nil: each is on its own
}

// Target are m rows without labels.
type Target struct {
	Features  *mat.Dense // m×d
	Predicted []int      // m classes: h
	Groups    []int      // m, as in Source
}

const (
	// folds: rows are judged by critics of the other folds, which are drawn at random.
	folds = 2
	// oneSided is the 0.95 quantile of the normal distribution.
	oneSided = 1.6448536269514722
	// fewestRows are those of a domain below which its critics learn nothing.
	fewestRows = 10
)

// MostRows returns of how many rows of a domain a floor takes seconds, for d features and k classes.
func MostRows(d, k int) int {
	const (
		most   = 5000
		values = 1e7 // rows times features times classes
	)
	return max(fewestRows, min(most, int(values/float64(d*k))))
}

// Of returns the floor for k classes: what the accuracy on the target is at least, with a probability
// of 0.95, unless the truth is stranger than the critic. Features are standardised by the source's means and
// deviations. Fewer than ten rows of a domain and features that are no numbers are errors. Parts that
// do not fit each other panic.
func Of(k int, s Source, t Target) (float64, error) {
	if err := check(s, t); err != nil {
		return 0, err
	}
	source, target := standardised(s.Features, t.Features)
	weights := slices.Clone(s.Weights)
	floats.Scale(float64(len(weights))/floats.Sum(weights), weights)
	contradictedS, contradictedT := make([]float64, len(weights)), make([]float64, len(t.Predicted))
	random := rand.New(rand.NewPCG(1, 2))
	foldsS, foldsT := foldsOf(random, s.Labels, s.Groups), foldsOf(random, t.Predicted, t.Groups)
	for fold := range folds {
		learntS, heldS := split(foldsS, fold)
		learntT, heldT := split(foldsT, fold)
		g, err := train(k,
			agreement(rowsOf(source, learntS), evenly.Pick(s.Predicted, learntS), evenly.Pick(weights, learntS)),
			contradiction(rowsOf(target, learntT), evenly.Pick(t.Predicted, learntT)))
		if err != nil {
			return 0, err
		}
		mark(contradictedS, heldS, g.predict(rowsOf(source, heldS)), s.Predicted)
		mark(contradictedT, heldT, g.predict(rowsOf(target, heldT)), t.Predicted)
	}
	// The last element of each is the row, or group, that is added.
	wrong := make([]float64, len(weights), len(weights)+1)
	terms := make([]float64, len(weights), len(weights)+1)
	for i, label := range s.Labels {
		if s.Predicted[i] != label {
			wrong[i] = 1
		}
		terms[i] = wrong[i] - contradictedS[i]
	}
	ofS, groupsS := clusters.Dense(s.Groups, len(s.Labels))
	ofT, groupsT := clusters.Dense(t.Groups, len(t.Predicted))
	ofS, ofT = append(ofS, groupsS), append(ofT, groupsT)
	weights = append(weights, float64(len(s.Labels))/float64(groupsS))
	alike := append(slices.Repeat([]float64{1}, len(contradictedT)), float64(len(contradictedT))/float64(groupsT))
	onSource, sourceVariance := meanAndVariance(append(terms, 1), weights, ofS)
	sourceError, _ := meanAndVariance(append(wrong, 1), weights, ofS)
	onTarget, targetVariance := meanAndVariance(append(contradictedT, 1), alike, ofT)
	discrepancy := max(0, onSource-sourceError+onTarget)
	reach := oneSided
	if s.Groups != nil || t.Groups != nil {
		degrees := func(groups []int, n int) float64 { // as if all rows of a group were alike
			return clusters.Degrees(clusters.Size(groups, n), groups, n)
		}
		reach = distuv.StudentsT{Sigma: 1, Nu: min(degrees(s.Groups, len(s.Labels)), degrees(t.Groups, len(t.Predicted)))}.Quantile(0.95)
	}
	return max(0, 1-sourceError-discrepancy-reach*math.Sqrt(sourceVariance+targetVariance)), nil
}

// check returns an error for rows that are too few or no numbers, and panics if parts do not fit.
func check(s Source, t Target) error {
	n, d := s.Features.Dims()
	m, width := t.Features.Dims()
	if width != d || len(s.Labels) != n || len(s.Predicted) != n || len(s.Weights) != n || len(t.Predicted) != m {
		panic(fmt.Sprintf("floor: the parts do not fit %d source rows of %d features and %d target rows of %d", n, d, m, width))
	}
	if n < fewestRows || m < fewestRows {
		return fmt.Errorf("floor: %d source rows and %d target rows; it takes %d of each", n, m, fewestRows)
	}
	_, groupsS := clusters.Dense(s.Groups, n)
	if _, groupsT := clusters.Dense(t.Groups, m); min(groupsS, groupsT) < fewestRows {
		return fmt.Errorf("floor: %d groups of source rows and %d of target rows; it takes %d of each", groupsS, groupsT, fewestRows)
	}
	return cmp.Or(checkFeatures("source", s.Features), checkFeatures("target", t.Features))
}

func checkFeatures(domain string, features *mat.Dense) error {
	if sum := mat.Sum(features); math.IsNaN(sum) || math.IsInf(sum, 0) {
		return fmt.Errorf("floor: features of the %s are no numbers, or too large", domain)
	}
	return nil
}

// standardised returns both domains' features with the source's means 0 and deviations 1, brought
// back to ten deviations; one that the source always has alike is left out of both, as 0.
func standardised(source, target *mat.Dense) (s, t *mat.Dense) {
	const farthest = 10
	s, t = mat.DenseCopyOf(source), mat.DenseCopyOf(target)
	n, d := s.Dims()
	for j := range d {
		column := mat.Col(nil, j, s)
		constant, mean := floats.Min(column) == floats.Max(column), floats.Sum(column)/float64(n)
		floats.AddConst(-mean, column)
		deviation := floats.Norm(column, 2) / math.Sqrt(float64(n))
		for _, m := range []*mat.Dense{s, t} {
			for i := range m.RawMatrix().Rows {
				v := 0.0
				if !constant {
					v = max(-farthest, min(farthest, (m.At(i, j)-mean)/deviation))
				}
				m.Set(i, j, v)
			}
		}
	}
	return s, t
}

// foldsOf draws the fold of each row, as many of each class in one as in the other. The rows' order,
// in which classes may take turns, has no part in it. Groups are in one fold, by the class of their first rows.
func foldsOf(random *rand.Rand, classes, groups []int) []int {
	group, count := clusters.Dense(groups, len(classes))
	first := make([]int, count)
	for row := len(group) - 1; row >= 0; row-- {
		first[group[row]] = classes[row]
	}
	order, of := random.Perm(count), make([]int, len(classes))
	slices.SortStableFunc(order, func(a, b int) int { return first[a] - first[b] })
	foldOf := make([]int, count)
	for place, group := range order {
		foldOf[group] = place % folds
	}
	for row, group := range group {
		of[row] = foldOf[group]
	}
	return of
}

// split returns the rows outside and inside a fold.
func split(foldOf []int, fold int) (learnt, held []int) {
	for i, of := range foldOf {
		if of == fold {
			held = append(held, i)
		} else {
			learnt = append(learnt, i)
		}
	}
	return learnt, held
}

func rowsOf(m *mat.Dense, rows []int) *mat.Dense {
	part := mat.NewDense(len(rows), m.RawMatrix().Cols, nil)
	for i, row := range rows {
		part.SetRow(i, m.RawRowView(row))
	}
	return part
}

// mark sets 1 for the rows on which a critic differs from h.
func mark(differs []float64, rows, critic, h []int) {
	for i, row := range rows {
		if critic[i] != h[row] {
			differs[row] = 1
		}
	}
}

// meanAndVariance returns the weighted mean of values and its variance, of groups numbered from 0.
func meanAndVariance(values, weights []float64, group []int) (mean, variance float64) {
	total := 0.0
	for i, w := range weights {
		mean += w * values[i]
		total += w
	}
	mean /= total
	residuals := make([]float64, len(values))
	for i, w := range weights {
		residuals[i] = w * (values[i] - mean) / total
	}
	for _, sum := range clusters.Sums(residuals, group, slices.Max(group)+1) {
		variance += sum * sum
	}
	return mean, variance
}

// Outside tells of each target row (m×d, NaN where a value is missing) whether it lies where no source row
// (n×d) does in some column: if it has a value and no source row has, has none and all source rows have, or
// has one that is further beyond all of the source's than these are apart.
func Outside(source, target *mat.Dense) []bool {
	m, d := target.Dims()
	outside := make([]bool, m)
	for j := range d {
		least, most, missing := math.Inf(1), math.Inf(-1), false
		for i := range source.RawMatrix().Rows {
			if v := source.At(i, j); math.IsNaN(v) {
				missing = true
			} else {
				least, most = min(least, v), max(most, v)
			}
		}
		for i := range m {
			switch v := target.At(i, j); {
			case math.IsNaN(v):
				outside[i] = outside[i] || !missing
			case v < least-(most-least) || v > most+(most-least):
				outside[i] = true
			}
		}
	}
	return outside
}
