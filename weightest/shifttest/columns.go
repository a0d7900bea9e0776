package shifttest

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/clusters"
	"iwda/weightest"
)

// Columns says whether the columns of a target's rows agree with those of the source's classes
// in the shares that a classifier estimates.
type Columns struct {
	// P is the smallest p-value of a column's mean or mean square, times their number
	// (Bonferroni), at most 1; 1 without a column that varies.
	P float64
	// Column is the one that agrees least, by its mean square if Squares.
	Column  int
	Squares bool
	// Distance is the root of the mean square of the differences of the columns' means, in the
	// source's deviations, over those that vary there.
	Distance float64
}

// columnRange bounds standardised values, so that a few far from all others decide nothing.
const columnRange = 5

// ColumnSums are what [ColumnSums.Test] needs of rows of d values, which are standardised by the
// source. Rows are added in batches, in any number.
//
// Under label shift a column's mean in the target is Σ_y q_y a_y, a_y its mean in the source's
// class y and q the target's shares. Rows that are selected by a column move its mean further than
// any shares of their classes do, although what a classifier says of them can look like label
// shift. Squares of columns tell the same of their spread.
type ColumnSums struct {
	classes, columns int
	shares           []float64  // q
	influence        *mat.Dense // of each target row on q, m×k
	seen             int        // target rows that were added

	rows           []float64  // of each class in the source
	means, squares *mat.Dense // sums over the source's rows by class, k×2d: of columns, then of their squares
	target, spread []float64  // sums over the target's rows, 2d, and of squares
	with           *mat.Dense // sums over the target's rows times their influence, k×2d

	without                []int // columns that are not compared
	targetGroups           []int // of the sample
	sourceGroup, fromGroup *groupSums
}

// groupSums are sums over the rows of each group, and in the source of each class in it, together with
// how many these are.
type groupSums struct {
	number map[[2]int]int // by group and class
	group  []int          // of each number
	class  []int
	rows   []float64
	sums   [][]float64 // 2d
	moved  [][]float64 // the target's influences, k
}

// at returns the number of the rows of a class in a group, with one row more.
func (g *groupSums) at(group, class, columns, classes int) int {
	key := [2]int{group, class}
	at, known := g.number[key]
	if !known {
		at = len(g.rows)
		g.number[key] = at
		g.group, g.class, g.rows = append(g.group, group), append(g.class, class), append(g.rows, 0)
		g.sums, g.moved = append(g.sums, make([]float64, columns)), append(g.moved, make([]float64, classes))
	}
	g.rows[at]++
	return at
}

// NewColumnSums prepares for rows of some columns, by the target's probabilities and class shares
// q that follow from them by maximum likelihood (k, sum 1). A class of less than a row counts
// as known to be rare. The error wraps ErrNoStatistics where a domain has no row. NewColumnSums panics
// unless there are k shares.
func NewColumnSums(s *weightest.Sample, q []float64, columns int) (*ColumnSums, error) {
	if err := s.RequireRows(); err != nil {
		return nil, err
	}
	k := s.Classes()
	if len(q) != k {
		panic(fmt.Sprintf("shifttest: %d shares of %d classes", len(q), k))
	}
	influence, err := influences(s, q)
	if err != nil {
		return nil, err
	}
	_, targetGroups := s.Groups()
	return &ColumnSums{
		targetGroups: targetGroups, sourceGroup: &groupSums{number: map[[2]int]int{}}, fromGroup: &groupSums{number: map[[2]int]int{}},
		classes: k, columns: columns, shares: q, influence: influence, rows: make([]float64, k),
		means: mat.NewDense(k, 2*columns, nil), squares: mat.NewDense(k, 2*columns, nil), with: mat.NewDense(k, 2*columns, nil),
		target: make([]float64, 2*columns), spread: make([]float64, 2*columns),
	}, nil
}

// influences returns by how much each row of the target moves q, times the number of rows: the
// score g_i = p_iy/π_y / Σ_z q_z p_iz/π_z of a mixture, times the inverse of the information
// Σ g gᵀ/m on the simplex.
func influences(s *weightest.Sample, q []float64) (*mat.Dense, error) {
	k := s.Classes()
	_, labels := s.Source()
	source := make([]float64, k)
	for _, y := range labels {
		source[y] += 1 / float64(len(labels))
	}
	m := len(s.Target()) / k
	var free []int // classes whose shares are estimated
	for y, share := range q {
		if source[y] > 0 && share*float64(m) >= 1 {
			free = append(free, y)
		}
	}
	all := mat.NewDense(m, k, nil)
	if len(free) < 2 {
		return all, nil
	}
	scores := mat.NewDense(m, len(free), nil)
	for i := range m {
		p := s.Target()[i*k : (i+1)*k]
		density := 0.0
		for y, share := range q {
			if source[y] > 0 {
				density += share * p[y] / source[y]
			}
		}
		for j, y := range free {
			scores.Set(i, j, p[y]/source[y]/max(density, math.SmallestNonzeroFloat32))
		}
	}
	n := len(free)
	information := mat.NewSymDense(n, nil)
	information.SymOuterK(1/float64(m), scores.T())
	inverse, err := InverseOnSimplex(information)
	if err != nil {
		return nil, err
	}
	var moved mat.Dense
	moved.Mul(scores, inverse)
	mean := make([]float64, n)
	for i := range m {
		floats.AddScaled(mean, 1/float64(m), moved.RawRowView(i))
	}
	for i := range m {
		for j, y := range free {
			all.Set(i, y, moved.At(i, j)-mean[j])
		}
	}
	return all, nil
}

// InverseOnSimplex returns the inverse of the information J on class shares (n×n) among changes that sum to 0,
// J⁻¹ − J⁻¹11ᵀJ⁻¹/(1ᵀJ⁻¹1), with a little on the diagonal where classes look alike. It changes J.
func InverseOnSimplex(information *mat.SymDense) (*mat.SymDense, error) {
	n := information.SymmetricDim()
	ridge := 1e-9 * (1 + mat.Trace(information))
	for j := range n {
		information.SetSym(j, j, information.At(j, j)+ridge)
	}
	var factor mat.Cholesky
	if !factor.Factorize(information) {
		return nil, fmt.Errorf("the information on class shares is not positive definite: are some probabilities no numbers?")
	}
	var inverse mat.SymDense
	if err := factor.InverseTo(&inverse); err != nil {
		return nil, fmt.Errorf("the information on class shares: %w", err)
	}
	ones := mat.NewVecDense(n, slices.Repeat([]float64{1}, n))
	var along mat.VecDense
	along.MulVec(&inverse, ones)
	inverse.SymRankOne(&inverse, -1/mat.Dot(ones, &along), &along)
	return &inverse, nil
}

// AddSource adds rows of the source with their labels, n×d row-major and n, and the groups of those that
// belong together (n; nil: each is on its own, in all calls). It panics where the lengths do not fit.
func (c *ColumnSums) AddSource(values []float32, labels, groups []int) {
	if len(values) != len(labels)*c.columns || groups != nil && len(groups) != len(labels) {
		panic(fmt.Sprintf("shifttest: %d values for %d rows of %d columns", len(values), len(labels), c.columns))
	}
	row := make([]float64, 2*c.columns)
	for i, y := range labels {
		c.read(row, values[i*c.columns:(i+1)*c.columns])
		if c.rows[y]++; groups != nil {
			floats.Add(c.sourceGroup.sums[c.sourceGroup.at(groups[i], y, len(row), 0)], row)
		}
		floats.Add(c.means.RawRowView(y), row)
		addSquares(c.squares.RawRowView(y), row)
	}
}

// AddTarget adds the next rows of the target, m×d row-major, in the order of the sample's. It panics
// where the sample has no more rows.
func (c *ColumnSums) AddTarget(values []float32) {
	if len(values) == 0 {
		return
	}
	n := len(values) / c.columns
	if m, _ := c.influence.Dims(); len(values) != n*c.columns || c.seen+n > m {
		panic(fmt.Sprintf("shifttest: %d values for rows of %d columns, of which %d are left", len(values), c.columns, m-c.seen))
	}
	rows := mat.NewDense(n, 2*c.columns, nil)
	for i := range n {
		row := rows.RawRowView(i)
		c.read(row, values[i*c.columns:(i+1)*c.columns])
		if c.targetGroups != nil {
			at := c.fromGroup.at(c.targetGroups[c.seen+i], 0, len(row), c.classes)
			floats.Add(c.fromGroup.sums[at], row)
			floats.Add(c.fromGroup.moved[at], c.influence.RawRowView(c.seen+i))
		}
		floats.Add(c.target, row)
		addSquares(c.spread, row)
	}
	var with mat.Dense
	with.Mul(c.influence.Slice(c.seen, c.seen+n, 0, c.classes).T(), rows)
	c.with.Add(c.with, &with)
	c.seen += n
}

// read sets values within range, and then their squares.
func (c *ColumnSums) read(row []float64, values []float32) {
	for j, v := range values {
		x := min(max(float64(v), -columnRange), columnRange)
		row[j], row[c.columns+j] = x, x*x
	}
}

// inflation is by how much the squares of what groups add are more than those of rows alone, at least 1.
func (g *groupSums) inflation(add func(number int) float64, alone func() float64) float64 {
	if len(g.rows) == 0 {
		return 1
	}
	ofGroup := map[int]float64{}
	for number, group := range g.group {
		ofGroup[group] += add(number)
	}
	together, groups := 0.0, float64(len(ofGroup))
	for _, group := range slices.Sorted(maps.Keys(ofGroup)) {
		together += ofGroup[group] * ofGroup[group]
	}
	return max(1, together/max(alone(), math.SmallestNonzeroFloat32)*groups/max(1, groups-1))
}

// share is that of independent rows: of groups of equal weight, 1 if there are none.
func (g *groupSums) share() float64 {
	if len(g.rows) == 0 {
		return 1
	}
	return clusters.Effective(g.rows, g.group) / floats.Sum(g.rows)
}

func addSquares(sums, row []float64) {
	for j, v := range row {
		sums[j] += v * v
	}
}

// Test compares the domains' columns, once all rows are added. The difference of a column is
//
//	r = mean of the target's x_i - Σ_y q_y a_y.
//
// Its variance has two parts: that of x_i - Σ_y ψ_iy a_y over the target's rows, where ψ_i is a
// row's influence on q, and that of the source's means a_y. Few rows that happen to be alike, as
// those of a class without a rare word, must not look certain. So each class has one row more,
// spread as all rows are, and at least the variance that all classes have within them; the target
// has at least that of the mixture of the classes. r is Student's t with the degrees of freedom of
// Welch (1947) and Satterthwaite (1946). Of rows in groups both parts are as much larger as sums over groups
// spread more than over rows, and degrees of freedom are of groups.
func (c *ColumnSums) Test() (Columns, error) {
	if c.seen == 0 || floats.Sum(c.rows) == 0 {
		return Columns{}, weightest.ErrNoStatistics
	}
	m, n := float64(c.seen), floats.Sum(c.rows)
	var covariance mat.Dense // of influences, k×k
	covariance.Mul(c.influence.T(), c.influence)
	result := Columns{P: 1}
	tests, least, furthest, distance, varied := 0, 1.0, 0.0, 0.0, 0.0
	class := make([]float64, c.classes)
	sourceGroups, targetGroups := c.sourceGroup.share(), c.fromGroup.share() // of rows
	for j := range c.target {
		var sum, square, ofClasses float64
		for y, rows := range c.rows {
			sum += c.means.At(y, j)
			square += c.squares.At(y, j)
			if class[y] = 0; rows > 0 {
				class[y] = c.means.At(y, j) / rows
				ofClasses += rows * class[y] * class[y]
			}
		}
		pooled := square/n - sum/n*sum/n
		if pooled < 1e-9 || slices.Contains(c.without, j%c.columns) {
			continue // it is constant in the source, or not asked about
		}
		tests++
		mean, mixed := c.target[j]/m, floats.Dot(c.shares, class)
		difference, variance, mixture := mean-mixed, pooled/(m*m), 0.0
		unsure, ofSource := 0.0, 0.0
		inflated := c.sourceGroup.inflation(func(g int) float64 {
			y := c.sourceGroup.class[g]
			return c.shares[y] / c.rows[y] * (c.sourceGroup.sums[g][j] - c.sourceGroup.rows[g]*class[y])
		}, func() (alone float64) {
			for y, q := range c.shares {
				if rows := c.rows[y]; rows > 0 {
					alone += q * q / rows / rows * (c.squares.At(y, j) - rows*class[y]*class[y])
				}
			}
			return alone
		})
		for y, q := range c.shares {
			rows := c.rows[y]
			if rows == 0 {
				continue
			}
			within := max((c.squares.At(y, j)-rows*class[y]*class[y]+pooled)/(rows+1), (square-ofClasses)/n)
			part := q * q * within / rows
			unsure += part * part * inflated * inflated / (rows * sourceGroups)
			mixture += q * (within + (class[y]-mixed)*(class[y]-mixed))
			ofSource += part
			variance += part
			variance -= 2 * class[y] * c.with.At(y, j) / (m * m)
		}
		spread := c.spread[j]/m - mean*mean
		variance += max(spread, mixture) / m
		for y, a := range class {
			variance += a * floats.Dot(covariance.RawRowView(y), class) / (m * m)
		}
		ofTarget := variance - ofSource - pooled/(m*m)
		variance += ofSource * (inflated - 1)
		variance += ofTarget * (c.fromGroup.inflation(func(g int) float64 {
			return (c.fromGroup.sums[g][j] - c.fromGroup.rows[g]*mean - floats.Dot(c.fromGroup.moved[g], class)) / m
		}, func() float64 { return ofTarget - (max(spread, mixture)-spread)/m }) - 1)
		if j < c.columns {
			varied++
			distance += difference * difference / pooled
		}
		variance = max(variance, pooled/(m*m))
		z := math.Abs(difference) / math.Sqrt(variance)
		student := distuv.StudentsT{Sigma: 1, Nu: variance * variance / (unsure + variance*variance/(m*targetGroups))}
		if p := 2 * student.Survival(z); p < least || p == least && z > furthest {
			least, furthest, result.Column, result.Squares = p, z, j%c.columns, j >= c.columns
		}
	}
	if tests > 0 {
		result.P = min(1, float64(tests)*least)
		result.Distance = math.Sqrt(distance / max(1, varied))
	}
	return result, nil
}
