package classshares

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/clusters"
	"iwda/weightest/intervals"
)

// Accuracy is what share of the target's rows predictions get right, and the ends of its interval.
type Accuracy struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// defaultLevel is that of intervals.
const defaultLevel = 0.95

// Performance is how well predictions do on the target's rows if only class shares changed.
type Performance struct {
	Accuracy Accuracy
	Classes  []ClassPerformance // k
	// Shares and weights of all classes, by the same resamples.
	Uncertainty intervals.Uncertainty
}

// ClassPerformance is that of a class. Recall and Precision are nil if nothing is known of them: without a
// held-out row of the class, or one that is predicted to be of it.
type ClassPerformance struct {
	Share     Accuracy  // of the target's rows that are of the class
	Recall    *Accuracy // what share of these is predicted so
	Precision *Accuracy // what share of the rows that are predicted so is of the class
	Predicted int       // target rows that are predicted so
}

// Performance returns how often predictions are right in the target, by what a classifier predicts of
// held-out source rows (n classes) and of target rows (m). Within a class predictions are as often right as
// in the source, if only the shares q changed. So the accuracy is
//
//	Σ_y q_y r_y,   r_y the recall of class y,
//
// whoever predicts, as long as held-out rows were predicted by the same classifier, which has fitted
// neither them nor the target's: an adapted network's recall of source rows says nothing of the target's.
//
// The intervals of recalls are exact for the class ([clusters.Exact]), and widened for the target's rows of it.
// Those of accuracy and precision are between percentiles over the resamples that the shares have, so that they know
// of errors that shares and recalls have in common; the ends of a precision are of those of the class's share. One more
// row (in groups as many as vary as one would) of the class with the largest q_y/n_y
// is wrong for the lower end, and right for the upper end, and counts as Exp(1): what Clopper and Pearson add to
// one class, and Fay and Feuer (1997) to a weighted sum of several. All are of the target's own rows, each right
// or wrong.
func (s *Shares) Performance(heldOutPredicted, predicted []int, settings intervals.BootstrapSettings) (Performance, error) {
	k := s.Sample.Classes()
	if err := cmp.Or(checkPredicted(predicted, len(s.target.Values)/k, k), checkPredicted(heldOutPredicted, len(s.labels), k)); err != nil {
		return Performance{}, err
	}
	c := newConfusion(s, heldOutPredicted)
	for _, class := range predicted {
		c.target[class]++
	}
	level := cmp.Or(settings.Level, defaultLevel)
	var lock sync.Mutex
	var low, high allRates
	settings.Observe = func(r intervals.Resampled) {
		below, above := c.ends(r, len(predicted), rand.New(rand.NewPCG(settings.Seed^0x72656361, uint64(r.Number))))
		lock.Lock()
		defer lock.Unlock()
		low.add(below)
		high.add(above)
	}
	known, err := s.Bootstrap(settings)
	if err != nil {
		return Performance{}, err
	}
	own := c.rates(nil, s.Target(), s.Target(), pseudo{})
	between := func(value float64, low, high []float64) Accuracy {
		return Accuracy{value, min(value, intervals.Percentile(low, known.Outside)), max(value, intervals.Percentile(high, 1-known.Outside))}
	}
	p := Performance{Accuracy: between(own.accuracy, low.accuracy, high.accuracy), Classes: make([]ClassPerformance, k), Uncertainty: known}
	for y := range p.Classes {
		class, share := &p.Classes[y], known.Shares.Each[y]
		class.Predicted = c.target[y]
		class.Share = Accuracy{s.Target()[y], share.Low, share.High}
		if right, groups := c.ofClass(y); len(right) > 0 {
			low, high := clusters.Exact(right, groups, level)
			value, rows := floats.Sum(right)/float64(len(right)), s.Target()[y]*float64(len(predicted))
			class.Recall = &Accuracy{value, c.ofOwn(value, low, rows, level), c.ofOwn(value, high, rows, level)}
		}
		if !math.IsNaN(own.precision[y]) {
			precision := between(own.precision[y], low.ofClass(y), high.ofClass(y))
			class.Precision = &precision
		}
	}
	return p, nil
}

// checkPredicted returns an error unless a class is predicted of each of n rows.
func checkPredicted(predicted []int, n, classes int) error {
	if len(predicted) != n {
		return fmt.Errorf("%d predictions of %d rows", len(predicted), n)
	}
	for row, class := range predicted {
		if class < 0 || class >= classes {
			return fmt.Errorf("class %d is predicted of row %d; there are %d classes", class, row, classes)
		}
	}
	return nil
}

// confusion is what a classifier predicts of held-out rows.
type confusion struct {
	classes           int
	labels, predicted []int
	groups            []int
	right             []float64 // 1 of each row that is predicted right, 0 of others
	together          float64   // by how much groups make the variance of right predictions larger
	rows              []float64 // of each class
	target            []int     // rows there that are predicted to be of each class
	inflation         float64   // of the variance of the target's number of right predictions, by its groups
}

func newConfusion(s *Shares, predicted []int) *confusion {
	k := s.Sample.Classes()
	c := &confusion{classes: k, labels: s.labels, predicted: predicted, groups: s.heldOut.Groups, right: make([]float64, len(predicted)), together: 1, rows: make([]float64, k), target: make([]int, k), inflation: 1}
	for i, label := range s.labels {
		c.rows[label]++
		if predicted[i] == label {
			c.right[i] = 1
		}
	}
	if c.groups != nil {
		alike := max(c.alike(sharesOf(s.labels, k)), c.alike(s.Target()))
		c.together = 1 + alike*(clusters.Size(c.groups, len(c.labels))-1)
		c.inflation = 1 + alike*(clusters.Size(s.target.Groups, len(s.target.Values)/k)-1)
	}
	return c
}

// alike is the correlation of two rows of a group in being predicted right, in class shares q: a pair of held-out rows
// counts as often as one of these classes would be there. A group that looks like one class is wrong in the others, which
// cancels where all are as frequent. It is 1 where nothing tells: no pair, or no mistake.
func (c *confusion) alike(q []float64) float64 {
	recalls, n := c.rates(nil, q, q, pseudo{}).recall, len(c.labels)
	weights, residuals, variance := make([]float64, n), make([]float64, n), 0.0
	for i, label := range c.labels {
		residual := c.right[i] - recalls[label]
		weights[i] = q[label] / c.rows[label]
		residuals[i] = weights[i] * residual
		variance += residuals[i] * residual
	}
	pairs := 1/clusters.Effective(weights, c.groups) - 1/clusters.Effective(weights, nil)
	if pairs*variance == 0 {
		return 1
	}
	common := (clusters.Inflation(residuals, c.groups) - 1) * floats.Dot(residuals, residuals)
	return min(1, common/(pairs*variance))
}

// ofClass returns which rows of a class are predicted right, as 1 or 0, and their groups.
func (c *confusion) ofClass(class int) (right []float64, groups []int) {
	for i, label := range c.labels {
		if label == class {
			right = append(right, c.right[i])
			if c.groups != nil {
				groups = append(groups, c.groups[i])
			}
		}
	}
	return right, groups
}

// pseudo are rows that count beside the held-out ones.
type pseudo struct{ right, wrong float64 }

// rates are what follows from recalls and shares.
type rates struct {
	accuracy  float64
	recall    []float64 // of each class; 1/2 without a row
	precision []float64 // of each class; NaN if nothing is predicted so
}

// rates returns those of held-out rows that count so often (nil: once) in class shares q, with pseudo rows in
// the class for which one row stands for most, and of all others that one is mistaken for. The precision of a class
// is that if its own share is another, and all others change by one factor.
func (c *confusion) rates(counts []int, q, own []float64, beside pseudo) rates {
	k := c.classes
	joint, rows := make([]float64, k*k), make([]float64, k)
	for i, label := range c.labels {
		count := 1.0
		if counts != nil {
			count = float64(counts[i])
		}
		joint[label*k+c.predicted[i]] += count
		rows[label] += count
	}
	weights := make([]float64, k) // what a row of each class stands for
	for y, share := range q {
		weights[y] = share / max(1, c.rows[y])
	}
	heaviest := floats.MaxIdx(weights)
	r := rates{recall: make([]float64, k), precision: make([]float64, k)}
	mistaken := make([]float64, k) // target's rows of other classes that are predicted so
	for y, share := range q {
		right, n := joint[y*k+y], rows[y]
		r.recall[y] = ratio(right, n)
		if y == heaviest {
			r.accuracy += share * ratio(right+beside.right, n+beside.right+beside.wrong)
		} else {
			r.accuracy += share * r.recall[y]
		}
		if n == 0 {
			continue
		}
		for other, count := range joint[y*k : (y+1)*k] {
			if other != y {
				mistaken[other] += share * count / n
			}
		}
	}
	for y, share := range own {
		heaviest := 0.0
		for other, weight := range weights {
			if other != y {
				heaviest = max(heaviest, weight)
			}
		}
		right, others := share*ratio(joint[y*k+y]+beside.right, rows[y]+beside.right+beside.wrong), 0.0
		if q[y] < 1 {
			others = (1 - share) / (1 - q[y]) * (mistaken[y] + beside.wrong*heaviest)
		}
		r.precision[y] = right / (right + others)
	}
	return r
}

// ratio is right/n, and 1/2 of nothing.
func ratio(right, n float64) float64 {
	if n == 0 {
		return 0.5
	}
	return right / n
}

// ends returns the rates of a resample at both ends, in a target of so many rows.
func (c *confusion) ends(r intervals.Resampled, target int, random *rand.Rand) (low, high rates) {
	q := r.Estimate.TargetDistribution
	low = c.rates(r.Source, q, r.Low, pseudo{wrong: c.together * random.ExpFloat64()})
	high = c.rates(r.Source, q, r.High, pseudo{right: c.together * random.ExpFloat64()})
	chance := random.NormFloat64()
	for _, end := range []*rates{&low, &high} {
		end.accuracy = c.among(target, end.accuracy, chance)
		for class, p := range end.precision {
			end.precision[class] = c.among(c.target[class], p, chance)
		}
	}
	return low, high
}

// ofOwn returns the end of an interval for what share of so many rows is right, from that for the probability p.
func (c *confusion) ofOwn(p, end, rows, level float64) float64 {
	reach := distuv.UnitNormal.Quantile((1 + level) / 2)
	distance := math.Hypot(end-p, reach*math.Sqrt(c.inflation*end*(1-end)/max(1, rows)))
	return max(0, min(1, p+math.Copysign(distance, end-p)))
}

// among is what share of so many rows is right if each is with probability p: so many standard errors from it.
func (c *confusion) among(rows int, p, deviations float64) float64 {
	return max(0, min(1, p+deviations*math.Sqrt(c.inflation*max(0, p*(1-p))/float64(max(1, rows)))))
}

// allRates are those of all resamples.
type allRates struct {
	accuracy  []float64
	precision [][]float64
}

func (a *allRates) add(r rates) {
	a.accuracy, a.precision = append(a.accuracy, r.accuracy), append(a.precision, r.precision)
}

// ofClass returns the precisions of a class where there is one.
func (a *allRates) ofClass(class int) (values []float64) {
	for _, precision := range a.precision {
		if p := precision[class]; !math.IsNaN(p) {
			values = append(values, p)
		}
	}
	return values
}
