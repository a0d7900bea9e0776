package selection

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// clusterAgreement is class AMI: the mutual information of the target's predictions and
// clusters of its features, adjusted for chance (Vinh, Epps and Bailey 2010, with the
// arithmetic mean of the two entropies).
var clusterAgreement = Criterion{
	Name: "class-ami", Higher: true, Cost: "n·k·d a round of k-means",
	Fails: "features that have collapsed to one point a class agree with any prediction; full collapse has value 1",
	needs: []need{targetRows, clusters, atLeast(2)},
	value: func(in Input) (float64, error) {
		return adjustedMutualInformation(predictions(in.TargetLogits), in.Clusters), nil
	},
}

// ClassClusters returns the clusters of the target's features that begin at the mean of each
// predicted class.
func ClassClusters(in Input) ([]int, error) {
	if in.TargetLogits == nil || in.TargetFeatures == nil {
		return nil, fmt.Errorf("selection: %w: clusters need the logits and features of target rows", ErrMissing)
	}
	return Clusters(in.TargetFeatures, predictions(in.TargetLogits), in.classes())
}

// Clusters returns the cluster of each row of features (n×d) by Lloyd's k-means, which
// starts at the mean feature of each predicted class, at the origin where a class is not
// predicted, and ends when no row moves, when all centres together move by less than
// 1e-4 of the features' mean variance (squared), or after 300 rounds. A cluster that
// becomes empty keeps its centre. Predictions must be in [0, k), one a row.
func Clusters(features *mat.Dense, predicted []int, k int) ([]int, error) {
	n, d := features.Dims()
	if len(predicted) != n {
		return nil, fmt.Errorf("selection: %d predictions for %d rows", len(predicted), n)
	}
	if at := slices.IndexFunc(predicted, func(c int) bool { return c < 0 || c >= k }); at >= 0 {
		return nil, fmt.Errorf("selection: row %d is predicted as class %d of %d", at, predicted[at], k)
	}
	const rounds, tolerance = 300, 1e-4
	centres := mat.NewDense(k, d, nil)
	moveCentres(centres, features, predicted)
	still := tolerance * meanVariance(features)
	var assigned []int
	for range rounds {
		next := nearestCentres(features, centres)
		if slices.Equal(next, assigned) {
			return next, nil
		}
		assigned = next
		if moveCentres(centres, features, assigned) <= still {
			break
		}
	}
	return nearestCentres(features, centres), nil
}

// moveCentres sets each centre to the mean of its rows and returns the sum of the squared
// distances that the centres move. A centre without rows stays.
func moveCentres(centres, features *mat.Dense, assigned []int) float64 {
	k, d := centres.Dims()
	sums, counts := mat.NewDense(k, d, nil), make([]float64, k)
	for i, c := range assigned {
		floats.Add(sums.RawRowView(c), features.RawRowView(i))
		counts[c]++
	}
	moved := 0.0
	for c, count := range counts {
		if count == 0 {
			continue
		}
		centre := sums.RawRowView(c)
		floats.Scale(1/count, centre)
		distance := floats.Distance(centre, centres.RawRowView(c), 2)
		moved += distance * distance
		centres.SetRow(c, centre)
	}
	return moved
}

// nearestCentres returns the nearest centre of each row, the first of equally near ones.
func nearestCentres(features, centres *mat.Dense) []int {
	n, _ := features.Dims()
	k, _ := centres.Dims()
	// ‖x - c‖² less ‖x‖², which is the same for all centres.
	norms := make([]float64, k)
	for c := range norms {
		norms[c] = floats.Dot(centres.RawRowView(c), centres.RawRowView(c))
	}
	var products mat.Dense
	products.Mul(features, centres.T())
	nearest := make([]int, n)
	distances := make([]float64, k)
	for i := range nearest {
		for c, product := range products.RawRowView(i) {
			distances[c] = norms[c] - 2*product
		}
		nearest[i] = floats.MinIdx(distances)
	}
	return nearest
}

// meanVariance is the mean over the columns of their variance, divided by n.
func meanVariance(m *mat.Dense) float64 {
	n, d := m.Dims()
	total := 0.0
	column := make([]float64, n)
	for j := range d {
		total += stat.PopVariance(mat.Col(column, j, m), nil)
	}
	return total / float64(d)
}

// adjustedMutualInformation is (I - E[I]) / ((H(a)+H(b))/2 - E[I]), E over all pairs of
// partitions with the same sizes of parts. Where both have one part, or each row is a part
// of its own in both, it is 1.
func adjustedMutualInformation(a, b []int) float64 {
	counts, ofA, ofB := contingency(a, b)
	if len(ofA) == len(ofB) && (len(ofA) == 1 || len(ofA) == len(a)) {
		return 1
	}
	n := float64(len(a))
	information := 0.0
	for i, row := range counts {
		for j, c := range row {
			if c > 0 {
				information += c / n * math.Log(c*n/(ofA[i]*ofB[j]))
			}
		}
	}
	expected := expectedInformation(ofA, ofB, n)
	share := func(sizes []float64) []float64 {
		p := slices.Clone(sizes)
		floats.Scale(1/n, p)
		return p
	}
	normaliser := (entropy(share(ofA)) + entropy(share(ofB))) / 2
	// Rounding must not change the sign of what is divided by.
	const smallest = 0x1p-52
	denominator := normaliser - expected
	if denominator < 0 {
		denominator = min(denominator, -smallest)
	} else {
		denominator = max(denominator, smallest)
	}
	return (information - expected) / denominator
}

// contingency counts the rows of each pair of parts, and of the parts of a and b, leaving
// out parts without rows.
func contingency(a, b []int) (counts [][]float64, ofA, ofB []float64) {
	index := func(labels []int) (map[int]int, []float64) {
		at := map[int]int{}
		var sizes []float64
		for _, label := range labels {
			if _, ok := at[label]; !ok {
				at[label] = len(sizes)
				sizes = append(sizes, 0)
			}
			sizes[at[label]]++
		}
		return at, sizes
	}
	atA, ofA := index(a)
	atB, ofB := index(b)
	counts = make([][]float64, len(ofA))
	for i := range counts {
		counts[i] = make([]float64, len(ofB))
	}
	for row := range a {
		counts[atA[a[row]]][atB[b[row]]]++
	}
	return counts, ofA, ofB
}

// expectedInformation is the mean of the mutual information over all pairs of partitions of
// n rows into parts of those sizes: each count is hypergeometric.
func expectedInformation(ofA, ofB []float64, n float64) float64 {
	logFactorial := func(x float64) float64 {
		value, _ := math.Lgamma(x + 1)
		return value
	}
	expected := 0.0
	for _, a := range ofA {
		for _, b := range ofB {
			fixed := logFactorial(a) + logFactorial(b) + logFactorial(n-a) + logFactorial(n-b) - logFactorial(n)
			for c := max(1, a+b-n); c <= min(a, b); c++ {
				probability := math.Exp(fixed - logFactorial(c) - logFactorial(a-c) - logFactorial(b-c) - logFactorial(n-a-b+c))
				expected += c / n * math.Log(n*c/(a*b)) * probability
			}
		}
	}
	return expected
}
