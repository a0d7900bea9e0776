package selection

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// transferScore is the Transfer Score (Yang et al. 2024): the Hopkins statistic of the
// target's features, plus information maximisation over log k, less the uniformity of the
// classifier's head. Logarithms of the row's probabilities are taken of p + 1e-5, those of
// their mean of p̄ + 1e-6, as published.
var transferScore = Criterion{
	Name: "transfer-score", Higher: true, Cost: "n·d·n/20",
	Fails: wantsEqualShares,
	needs: []need{targetRows, targetFeatures, headWeights, probes, atLeast(3)},
	value: func(in Input) (float64, error) {
		k := in.classes()
		if k < 2 {
			return 0, fmt.Errorf("%w: it needs at least 2 classes", ErrMissing)
		}
		hopkins, err := hopkinsStatistic(in.TargetFeatures, in.UniformPoints, in.SampledRows)
		if err != nil {
			return 0, err
		}
		uniformity, err := headUniformity(in.HeadWeights)
		if err != nil {
			return 0, err
		}
		return hopkins + softenedInformation(softmax(in.TargetLogits, 1))/math.Log(float64(k)) - uniformity, nil
	},
}

func softenedInformation(p *mat.Dense) float64 {
	softened := func(p []float64, epsilon float64) float64 {
		h := 0.0
		for _, v := range p {
			h -= v * math.Log(v+epsilon)
		}
		return h
	}
	n, _ := p.Dims()
	rows := 0.0
	for i := range n {
		rows += softened(p.RawRowView(i), 1e-5)
	}
	return softened(columnMeans(p), 1e-6) - rows/float64(n)
}

// hopkinsStatistic is U/(U+V): U the sum of the distances of the points to their nearest
// row of features, V that of the given rows to their nearest other row. It is near 1/2 for
// features without structure, near 1 for tight clusters, and 1/2 where all distances are 0.
func hopkinsStatistic(features, points *mat.Dense, rows []int) (float64, error) {
	n, d := features.Dims()
	if _, columns := points.Dims(); columns != d {
		return 0, fmt.Errorf("points of %d columns for features of %d", columns, d)
	}
	fromPoints, fromRows := 0.0, 0.0
	count, _ := points.Dims()
	for i := range count {
		fromPoints += nearestDistance(features, points.RawRowView(i), -1)
	}
	for _, row := range rows {
		if row < 0 || row >= n {
			return 0, fmt.Errorf("sampled row %d of %d", row, n)
		}
		fromRows += nearestDistance(features, features.RawRowView(row), row)
	}
	if fromPoints+fromRows == 0 {
		return 0.5, nil
	}
	return fromPoints / (fromPoints + fromRows), nil
}

// nearestDistance is that of x to the nearest row but the one left out.
func nearestDistance(features *mat.Dense, x []float64, leftOut int) float64 {
	nearest := math.Inf(1)
	n, _ := features.Dims()
	for i := range n {
		if i != leftOut {
			nearest = min(nearest, floats.Distance(features.RawRowView(i), x, 2))
		}
	}
	return nearest
}

// headUniformity is the mean over all pairs of classes of the squared difference between
// the angle of their weight vectors and arccos(-1/(k-1)), the angle of k vectors that lie
// as far apart as they can.
func headUniformity(weights *mat.Dense) (float64, error) {
	k, _ := weights.Dims()
	if k < 2 {
		return 0, fmt.Errorf("%w: a head of %d classes", ErrMissing, k)
	}
	ideal := math.Acos(-1 / float64(k-1))
	total := 0.0
	for i := range k {
		for j := range k {
			if i == j {
				continue
			}
			a, b := weights.RawRowView(i), weights.RawRowView(j)
			lengths := floats.Norm(a, 2) * floats.Norm(b, 2)
			if lengths == 0 {
				return 0, fmt.Errorf("the head's weights of class %d or %d are all 0: they have no angle", i, j)
			}
			cosine := max(-1, min(1, floats.Dot(a, b)/lengths))
			difference := math.Acos(cosine) - ideal
			total += difference * difference
		}
	}
	return total / float64(k*(k-1)), nil
}
