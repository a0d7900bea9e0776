// Package gaussians draws classification problems whose answers are known: Gaussian
// classes, the exact probabilities of a classifier that knows the source, and a target
// with other class shares or rotated features.
package gaussians

import (
	"math"
	"math/rand/v2"
)

// Problem is a classification problem of k classes in k dimensions. Class y has the mean
// Separation[y] along axis y and the covariance 1.
type Problem struct {
	Separation []float64
	Source     []float64 // p, the source's class shares
	Target     []float64 // q, the target's
	// Rotation turns the target's features by this angle, in radians, in the planes of
	// axes 0 and 1, 2 and 3, …: 0 where only the class shares change.
	Rotation float64
	// Sureness is a factor of the logits of the classifier's probabilities, and Biases (k) are
	// added to these: 0 and nil where the probabilities are right in the source.
	Sureness float64
	Biases   []float64
	// Groups of rows that belong together, of so many rows on average; 0 and 1: none. A part Common of the
	// variance of features is their group's, and with Alike all rows of a group are of one class. Those of
	// Uneven ones are 1 to twice the mean less 1, and one in ten is four times as large.
	Size          int
	Common        float64
	Alike, Uneven bool
}

// Drawn are rows of one domain: their probabilities by a classifier that knows the source, row-major n×k,
// their classes, and the groups of those that belong together; nil if none do.
type Drawn struct {
	Probabilities  []float64
	Labels, Groups []int
}

// draw draws n rows of one domain, and some more if the last group is larger.
func (p Problem) draw(n int, shares []float64, rotation float64, random *rand.Rand) (d Drawn) {
	k := len(shares)
	sine, cosine := math.Sincos(rotation)
	left, group, class := 0, -1, 0
	ofGroup := make([]float64, k)
	for i := 0; i < n || left > 0; i++ {
		if p.Size <= 1 {
			d.Labels = append(d.Labels, draw(shares, random))
		} else {
			if left == 0 {
				left, group = p.size(random), group+1
				for j := range ofGroup {
					ofGroup[j] = random.NormFloat64()
				}
				class = draw(shares, random)
			}
			left--
			if !p.Alike {
				class = draw(shares, random)
			}
			d.Labels, d.Groups = append(d.Labels, class), append(d.Groups, group)
		}
		labels := d.Labels
		d.Probabilities = append(d.Probabilities, make([]float64, k)...)
		x := d.Probabilities[i*k : (i+1)*k]
		for j := range x {
			x[j] = random.NormFloat64()
		}
		if p.Size > 1 {
			for j := range x {
				x[j] = math.Sqrt(p.Common)*ofGroup[j] + math.Sqrt(1-p.Common)*x[j]
			}
		}
		x[labels[i]] += p.Separation[labels[i]]
		for j := 0; j+1 < k; j += 2 {
			x[j], x[j+1] = cosine*x[j]-sine*x[j+1], sine*x[j]+cosine*x[j+1]
		}
		p.classify(x)
	}
	return d
}

// size draws the number of rows of a group.
func (p Problem) size(random *rand.Rand) int {
	if !p.Uneven {
		return p.Size
	}
	size := 1 + random.IntN(2*p.Size-1)
	if random.IntN(10) == 0 {
		size *= 4
	}
	return size
}

// DrawSource draws n rows of the source, and the rest of their last group.
func (p Problem) DrawSource(n int, random *rand.Rand) Drawn { return p.draw(n, p.Source, 0, random) }

// DrawTarget is DrawSource for the target.
func (p Problem) DrawTarget(n int, random *rand.Rand) Drawn {
	return p.draw(n, p.Target, p.Rotation, random)
}

// SourceRows draws n rows of the source: their probabilities, row-major n×k, and classes.
func (p Problem) SourceRows(n int, random *rand.Rand) (probabilities []float64, labels []int) {
	d := p.DrawSource(n, random)
	return d.Probabilities, d.Labels
}

// TargetRows draws m rows of the target: their probabilities, row-major m×k.
func (p Problem) TargetRows(m int, random *rand.Rand) []float64 {
	return p.DrawTarget(m, random).Probabilities
}

// classify turns a row of features into the classes' probabilities in the source,
// ∝ p_y exp(s_y x_y - s_y²/2).
func (p Problem) classify(x []float64) {
	largest := math.Inf(-1)
	for y, s := range p.Separation {
		x[y] = math.Log(p.Source[y]) + s*x[y] - s*s/2
		if p.Sureness != 0 {
			x[y] *= p.Sureness
		}
		if p.Biases != nil {
			x[y] += p.Biases[y]
		}
		largest = math.Max(largest, x[y])
	}
	var sum float64
	for y := range x {
		x[y] = math.Exp(x[y] - largest)
		sum += x[y]
	}
	for y := range x {
		x[y] /= sum
	}
}

func draw(shares []float64, random *rand.Rand) int {
	u := random.Float64()
	for y, share := range shares {
		if u -= share; u < 0 {
			return y
		}
	}
	return len(shares) - 1
}

// Rising returns a source of k classes with equal shares and a target whose last class is
// four times as frequent as its first. Means are 2 to 3.5 standard deviations from the
// origin: the classifier is right in 96% of the source's rows for k = 2, and in 84% for
// k = 10.
func Rising(k int) Problem {
	var p Problem
	for y := range k {
		p.Separation = append(p.Separation, 2+1.5*float64(y)/float64(k))
		p.Source = append(p.Source, 1/float64(k))
		p.Target = append(p.Target, (1+3*float64(y)/float64(k-1))/(2.5*float64(k)))
	}
	return p
}
