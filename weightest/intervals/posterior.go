package intervals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/weightest"
)

// PosteriorSettings are the options of SamplePosterior; the zero value runs four chains
// until they are worth 1000 independent draws.
type PosteriorSettings struct {
	// Seed decides all draws.
	Seed uint64
	// EffectiveDraws is the number of independent draws that the chains have to be worth
	// in every class before they stop; 0 means 1000.
	EffectiveDraws float64
	// MaxSweeps bounds the sweeps of each chain; 0 means 24,000, and it is three at least.
	MaxSweeps int
	// Prior is the parameter of each class's Dirichlet distribution of predictions
	// before a row is seen, of which the class counts k·Prior rows; 0 means 1/k, one row.
	Prior float64
}

// Posterior are draws of the target's class shares and of the class weights, given the
// counts of hard predictions.
type Posterior struct {
	Shares  [][]float64 // q, draws×k
	Weights [][]float64 // q/p, draws×k
	// EffectiveDraws is the number of independent draws that the shares are worth in
	// the class where they are worth least.
	EffectiveDraws float64
	// Sweeps is the number of sweeps that each chain made.
	Sweeps int
}

// keptSweeps is the number of sweeps that a chain keeps, a third of which is its start
// and left out. A chain that goes on keeps every second, every fourth, ….
const keptSweeps = 1500

// independentChains is the number of chains, each with a random start.
const independentChains = 4

// SamplePosterior draws from the distribution of the target's class shares q, the source's
// p and the classifier's errors, given the counts of hard predictions F[y][c] of source
// rows of class y and N[c] of target rows: q and p have the prior Dirichlet(1), P(·|y)
// for each y Dirichlet(1/k), source rows are multinomial with p and P(c|y), target rows
// with Σ_y q_y P(c|y). Unlike a bootstrap it needs no solution of C w = mu, so that
// small samples, classes that are never predicted, singular C and classes without source
// rows only make the draws wider.
//
// It is a Gibbs sampler on the classes of the target rows, of which only the numbers
// N[y][c] matter (Σ_y N[y][c] = N[c]). A sweep draws
//
//	N[·][c] ~ Multinomial(N[c], ∝ q_y P(c|y))   for every c,
//	q       ~ Dirichlet(1 + Σ_c N[·][c]),
//	P(·|y)  ~ Dirichlet(1/k + F[y] + N[y])      for every y,
//
// k² numbers however many rows there are. p ~ Dirichlet(1 + Σ_c F[·][c]) needs no
// sampler. Draws that follow each other are alike, the more so the more the classifier
// errs: where MaxSweeps did not suffice for EffectiveDraws, the posterior has fewer.
//
// The error wraps ErrNoStatistics where a domain has no row.
func SamplePosterior(s *weightest.Sums, settings PosteriorSettings) (Posterior, error) {
	if err := s.RequireRows(); err != nil {
		return Posterior{}, err
	}
	settings = settings.withDefaults(s.Classes())
	kept := min(keptSweeps, settings.MaxSweeps)
	chains := make([]*chain, independentChains)
	for i := range chains {
		chains[i] = newChain(s, settings, i)
	}
	for every, sweeps := 1, 0; ; every *= 2 {
		more := (kept - len(chains[0].shares)) * every
		run(chains, more, every)
		sweeps += more
		effective := effectiveDraws(chains)
		if effective >= settings.EffectiveDraws || sweeps*2 > settings.MaxSweeps {
			posterior := Posterior{EffectiveDraws: effective, Sweeps: sweeps}
			for _, c := range chains {
				posterior.Shares = append(posterior.Shares, c.shares[kept/3:]...)
				posterior.Weights = append(posterior.Weights, c.weights[kept/3:]...)
			}
			return posterior, nil
		}
		for _, c := range chains {
			c.keepEverySecond()
		}
	}
}

func (s PosteriorSettings) withDefaults(classes int) PosteriorSettings {
	if s.EffectiveDraws <= 0 {
		s.EffectiveDraws = 1000
	}
	if s.MaxSweeps <= 0 {
		s.MaxSweeps = 24000
	}
	s.MaxSweeps = max(3, s.MaxSweeps)
	if s.Prior <= 0 {
		s.Prior = 1 / float64(classes)
	}
	return s
}

// run lets all chains make their sweeps at the same time and keep the last of every few.
func run(chains []*chain, sweeps, every int) {
	var done sync.WaitGroup
	for _, c := range chains {
		done.Go(func() {
			for i := 1; i <= sweeps; i++ {
				c.sweep()
				if i%every == 0 {
					c.keep()
				}
			}
		})
	}
	done.Wait()
}

// chain is one Gibbs sampler.
type chain struct {
	classes int
	source  []int // F, row-major k×k, row = true class
	target  []int // N, length k
	prior   float64
	random  *rand.Rand

	q         []float64
	predicted []float64 // P(c|y), row-major k×k, row = true class
	split     []float64 // N[y][c], likewise
	joint     []float64 // Σ_{y' ≥ y} q_y' P(c|y') of one c, length k+1
	counts    []float64 // the parameters of a Dirichlet distribution, length k

	shares, weights [][]float64 // what was kept
}

func newChain(s *weightest.Sums, settings PosteriorSettings, number int) *chain {
	k := s.Classes()
	source, target := s.HardCounts()
	c := &chain{
		classes:   k,
		source:    source,
		target:    target,
		prior:     settings.Prior,
		random:    rand.New(rand.NewPCG(settings.Seed, uint64(number))),
		q:         make([]float64, k),
		predicted: make([]float64, k*k),
		split:     make([]float64, k*k),
		joint:     make([]float64, k+1),
		counts:    make([]float64, k),
	}
	c.drawShares()
	c.drawPredictions()
	return c
}

func (c *chain) sweep() {
	c.drawSplit()
	c.drawShares()
	c.drawPredictions()
}

// fewRows is the number of rows per class up to which drawing the class of each row is
// faster than drawing the numbers of rows.
const fewRows = 8

func (c *chain) drawSplit() {
	k := c.classes
	clear(c.split)
	for predicted, rows := range c.target {
		for y := k - 1; y >= 0; y-- {
			c.joint[y] = c.joint[y+1] + c.q[y]*c.predicted[y*k+predicted]
		}
		if rows <= fewRows*k {
			for range rows {
				u := c.random.Float64() * c.joint[0]
				y := 0
				for y+1 < k && u < c.joint[y+1] {
					y++
				}
				c.split[y*k+predicted]++
			}
			continue
		}
		left := float64(rows)
		for y := 0; y < k && left > 0; y++ {
			drawn := left
			if share := 1 - c.joint[y+1]/c.joint[y]; share < 1 {
				drawn = distuv.Binomial{N: left, P: share, Src: c.random}.Rand()
			}
			c.split[y*k+predicted] = drawn
			left -= drawn
		}
	}
}

func (c *chain) drawShares() {
	for y := range c.q {
		c.counts[y] = 1 + floats.Sum(c.split[y*c.classes:(y+1)*c.classes])
	}
	c.dirichlet(c.q)
}

func (c *chain) drawPredictions() {
	k := c.classes
	for y := range k {
		for predicted := range k {
			c.counts[predicted] = c.prior + float64(c.source[y*k+predicted]) + c.split[y*k+predicted]
		}
		c.dirichlet(c.predicted[y*k : (y+1)*k])
	}
}

// gamma draws from the gamma distribution with the shape, which must be positive, and scale
// 1 (Marsaglia and Tsang 2000).
func (c *chain) gamma(shape float64) float64 {
	if shape < 1 {
		return c.gamma(shape+1) * math.Pow(c.random.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	factor := 1 / math.Sqrt(9*d)
	for {
		x := c.random.NormFloat64()
		v := 1 + factor*x
		if v <= 0 {
			continue
		}
		v *= v * v
		u := 1 - c.random.Float64()
		if u < 1-0.0331*x*x*x*x || math.Log(u) < x*x/2+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}

// dirichlet draws from the Dirichlet distribution with the parameters in counts.
func (c *chain) dirichlet(to []float64) {
	for i, shape := range c.counts {
		to[i] = math.Max(math.SmallestNonzeroFloat64, c.gamma(shape))
	}
	floats.Scale(1/floats.Sum(to), to)
}

// keep appends the state, with the weights for a draw of p.
func (c *chain) keep() {
	k := c.classes
	for y := range k {
		c.counts[y] = 1
		for _, rows := range c.source[y*k : (y+1)*k] {
			c.counts[y] += float64(rows)
		}
	}
	kept := make([]float64, 2*k)
	shares, weights := kept[:k:k], kept[k:]
	copy(shares, c.q)
	c.dirichlet(weights)
	floats.DivTo(weights, c.q, weights)
	c.shares = append(c.shares, shares)
	c.weights = append(c.weights, weights)
}

func (c *chain) keepEverySecond() {
	for i := 1; i < len(c.shares); i += 2 {
		c.shares[i/2], c.weights[i/2] = c.shares[i], c.weights[i]
	}
	c.shares, c.weights = c.shares[:len(c.shares)/2], c.weights[:len(c.weights)/2]
}

// effectiveDraws returns the number of independent draws that the kept shares of all
// chains, less their first third, are worth in the class where they are worth least.
func effectiveDraws(chains []*chain) float64 {
	smallest := math.Inf(1)
	series := make([][]float64, len(chains))
	for y := range chains[0].classes {
		for i, c := range chains {
			kept := c.shares[len(c.shares)/3:]
			series[i] = make([]float64, len(kept))
			for j, shares := range kept {
				series[i][j] = shares[y]
			}
		}
		smallest = math.Min(smallest, effectiveSize(series))
	}
	return smallest
}

// effectiveSize returns the number of independent draws with the same variance of the
// mean as several series of one length, by their autocorrelations, where the spread of
// the series' means counts as well (Gelman et al. 2013, section 11.5; the correlations
// are summed in pairs while those are positive and fall, Geyer 1992).
func effectiveSize(series [][]float64) float64 {
	count, length := float64(len(series)), float64(len(series[0]))
	means := make([]float64, len(series))
	var mean, within, between float64
	for i, draws := range series {
		means[i] = floats.Sum(draws) / length
		mean += means[i] / count
		within += autocovariance(draws, means[i], 0) / count
	}
	for _, m := range means {
		between += (m - mean) * (m - mean) / math.Max(1, count-1)
	}
	variance := within + between
	if !(variance > 0) {
		return count * length // a single class has share 1
	}
	correlation := func(lag int) float64 {
		var covariance float64
		for i, draws := range series {
			covariance += autocovariance(draws, means[i], lag) / count
		}
		return 1 - (within-covariance)/variance
	}
	time, before := -1.0, math.Inf(1)
	for lag := 0; lag+1 < len(series[0]); lag += 2 {
		pair := math.Min(correlation(lag)+correlation(lag+1), before)
		if pair <= 0 {
			break
		}
		time += 2 * pair
		before = pair
	}
	return math.Min(count*length, count*length/time)
}

// autocovariance returns Σ_t (x_t - mean)(x_{t+lag} - mean) / length.
func autocovariance(x []float64, mean float64, lag int) float64 {
	var sum float64
	for t := lag; t < len(x); t++ {
		sum += (x[t] - mean) * (x[t-lag] - mean)
	}
	return sum / float64(len(x))
}

// fewDraws is the number of independent draws below which percentiles are not to be
// relied on.
const fewDraws = 400

// Intervals returns the intervals between percentiles of the draws.
func (p Posterior) Intervals(level float64) Uncertainty {
	result := uncertaintyOf(p.Shares, p.Weights, level, asDrawn)
	if p.EffectiveDraws < fewDraws {
		result.Warning = fmt.Sprintf("%d sweeps of the sampler are worth only %.0f independent draws in a class: C is near singular, or the classifier errs much",
			p.Sweeps, p.EffectiveDraws)
	}
	return result
}
