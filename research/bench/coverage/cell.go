package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"iwda/inference/classshares"
	"iwda/inference/sets"
	"iwda/internal/gaussians"
	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/intervals"
	"iwda/weightest/shifttest"
)

// cell is a size of the problem: k classes, the rows of both domains, whether the classifier is too sure by
// half and biased, and what else is not as it should be.
type cell struct {
	classes, source, target int
	miscalibrated           bool
	// Groups of rows that belong together, see [gaussians.Problem].
	size   int
	common float64
	alike  bool
	uneven bool
	rare   *float64 // the last class's share in the target; nil: shares are drawn
	weak   bool     // classes lie near each other
	near   int      // the classifier is the shares of classes among so many nearest neighbours, many of them 0
}

// grids are the cells of each table.
func grids() map[string][]cell {
	all := map[string][]cell{}
	add := func(grid string, c cell) { all[grid] = append(all[grid], c) }
	for _, size := range []struct{ k, n int }{{2, 200}, {2, 1000}, {3, 200}, {3, 1000}, {10, 200}, {10, 1000}, {20, 400}, {5, 150}, {12, 240}, {30, 600}} {
		for _, times := range []int{1, 5, 25, 50} {
			c := cell{classes: size.k, source: size.n, target: times * size.n}
			sure := c
			sure.miscalibrated = true
			add("rows", c)
			add("rows", sure)
		}
	}
	for _, groups := range []int{20, 50, 100, 400} {
		for _, size := range []int{1, 4, 10, 30} {
			for _, common := range []float64{0, 0.2, 0.5} {
				for _, alike := range []bool{false, true} {
					for _, uneven := range []bool{false, true} {
						if c := (cell{classes: 2, source: groups * size, target: groups * size, size: size, common: common, alike: alike, uneven: uneven}); size > 1 || common == 0 && !alike && !uneven {
							add("groups", c)
						}
					}
				}
			}
		}
	}
	for _, share := range []float64{0, 0.001, 0.01, 0.03, 0.1, 0.3} {
		for _, k := range []int{2, 3} {
			for _, rows := range []int{300, 1000, 4000} {
				for _, weak := range []bool{false, true} {
					add("rare", cell{classes: k, source: 300, target: rows, rare: &share, weak: weak})
				}
			}
		}
	}
	for _, k := range []int{10, 50, 200} {
		for _, rows := range []int{30, 100, 1000} {
			add("many", cell{classes: k, source: 10 * k, target: rows})
		}
	}
	for _, k := range []int{2, 3, 5} {
		for _, neighbours := range []int{5, 10, 50} {
			for _, rows := range []int{300, 1000} {
				add("zeros", cell{classes: k, source: 300, target: rows, near: neighbours})
			}
		}
	}
	return all
}

func cells(grid string) []cell { return grids()[grid] }

func (c cell) kind() string {
	parts := []string{"calibrated"}
	if c.miscalibrated {
		parts[0] = "too sure, biased"
	}
	if c.weak {
		parts = append(parts, "weak")
	}
	if c.near > 0 {
		parts = []string{fmt.Sprintf("%d neighbours", c.near)}
	}
	if c.rare != nil {
		parts = append(parts, fmt.Sprintf("share %g", *c.rare))
	}
	if c.size > 0 {
		parts = append(parts, fmt.Sprintf("groups of %d, ICC %g", c.size, c.common))
		if c.alike {
			parts = append(parts, "of one class")
		}
		if c.uneven {
			parts = append(parts, "uneven")
		}
	}
	return strings.Join(parts, ", ")
}

func (c cell) String() string {
	return fmt.Sprintf("k=%d n=%d m=%d %s", c.classes, c.source, c.target, c.kind())
}

// problem draws the target's shares from all that there are with equal probability; the source's
// are equal. Biases have the standard deviation 0.5.
func (c cell) problem(random *rand.Rand) gaussians.Problem {
	p := gaussians.Rising(c.classes)
	for y := range p.Target {
		p.Target[y] = random.ExpFloat64()
	}
	if c.rare != nil {
		last := c.classes - 1
		floats.Scale((1-*c.rare)/floats.Sum(p.Target[:last]), p.Target[:last])
		p.Target[last] = *c.rare
	}
	floats.Scale(1/floats.Sum(p.Target), p.Target)
	if c.miscalibrated {
		p.Sureness = 1.5
		for range c.classes {
			p.Biases = append(p.Biases, 0.5*random.NormFloat64())
		}
	}
	if c.weak {
		floats.Scale(0.5, p.Separation)
	}
	p.Size, p.Common, p.Alike, p.Uneven = c.size, c.common, c.alike, c.uneven
	return p
}

// draw counts one draw, or of it the test of label shift alone.
func (c cell) draw(seed uint64, testAlone bool) (tally, error) {
	random := rand.New(rand.NewPCG(seed, uint64(c.classes*c.target)))
	p := c.problem(random)
	source := p.DrawSource(c.source, random)
	for len(slices.Compact(slices.Sorted(slices.Values(source.Labels)))) < c.classes {
		source = p.DrawSource(c.source, random)
	}
	target := p.DrawTarget(c.target, random)
	if c.near > 0 {
		train := p.DrawSource(300, random)
		source.Probabilities, target.Probabilities = c.neighbours(train, source), c.neighbours(train, target)
	}
	rows := func(d gaussians.Drawn) classshares.Rows {
		narrow := make([]float32, len(d.Probabilities))
		for i, v := range d.Probabilities {
			narrow[i] = float32(v)
		}
		return classshares.Rows{Values: narrow, Probabilities: true, Groups: d.Groups}
	}
	k, t := c.classes, newTally(c.classes)
	s, err := classshares.Fit(k, rows(source), source.Labels, rows(target), classshares.Settings{})
	if err != nil {
		return tally{}, err
	}
	if testAlone {
		return t, t.labelShift(s, seed)
	}
	predict := func(probabilities []float64) (classes []int) {
		for row := range slices.Chunk(probabilities, k) {
			classes = append(classes, floats.MaxIdx(row))
		}
		return classes
	}
	predicted := predict(target.Probabilities)
	how := intervals.BootstrapSettings{Seed: seed, Replicas: 200}
	performance, err := s.Performance(predict(source.Probabilities), predicted, how)
	if err != nil {
		return tally{}, err
	}
	known := performance.Uncertainty
	t.Draws, t.Joint = 1, []int{1, 1}
	for y, q := range p.Target {
		w := q / p.Source[y]
		t.Shares[y] = holds(known.Shares.Each[y], q)
		t.Weights[y] = holds(known.Weights.Each[y], w)
		t.Joint[0] *= holds(known.Shares.Joint[y], q)
		t.Joint[1] *= holds(known.Weights.Joint[y], w)
		t.interval("shares, bin "+bin(q), known.Shares.Each[y], q)
		above := 0.0
		if known.Shares.Each[y].Low > q {
			above = 1
		}
		t.add(tally{More: map[string]count{"low end too high, bin " + bin(q): {above, 1, 0}}})
	}
	right, ofClass, rowsOf := 0.0, make([]float64, k), make([]float64, k)
	for i, class := range target.Labels {
		rowsOf[class]++
		if predicted[i] == class {
			right++
			ofClass[class]++
		}
	}
	a := performance.Accuracy
	t.interval("accuracy", intervals.Interval{Low: a.Low, High: a.High}, right/float64(len(predicted)))
	for y, of := range performance.Classes {
		if r := of.Precision; r != nil && of.Predicted > 0 {
			t.interval("precision", intervals.Interval{Low: r.Low, High: r.High}, ofClass[y]/float64(of.Predicted))
		}
	}
	if k > 30 {
		return t, nil
	}
	if err := t.labelShift(s, seed); err != nil {
		return tally{}, err
	}
	if c.size == 0 && c.near == 0 {
		return t, nil
	}
	return t, c.moreTests(&t, p, s, source, target, random)
}

// moreTests counts tests that ask whether anything changed, on a target of the source's shares, that of columns,
// sets and floors.
func (c cell) moreTests(t *tally, p gaussians.Problem, s *classshares.Shares, source, target gaussians.Drawn, random *rand.Rand) error {
	k := c.classes
	columns, err := shifttest.NewColumnSums(s.Sample, s.Target(), k)
	if err != nil {
		return err
	}
	logs := func(d gaussians.Drawn) (values []float32) { // stand for columns
		for _, v := range calibration.CenteredLogs(d.Probabilities, k, 0) {
			values = append(values, float32(v))
		}
		return values
	}
	if c.near == 0 {
		columns.AddSource(logs(source), source.Labels, source.Groups)
		columns.AddTarget(logs(target))
		found, err := columns.Test()
		if err != nil {
			return err
		}
		t.test("columns", found.P)
	}
	p.Target = p.Source
	same := p.DrawTarget(c.target, random)
	if c.near == 0 {
		sample, err := weightest.SampleOf(k, source.Probabilities, source.Labels, same.Probabilities)
		if err != nil {
			return err
		}
		sample.Group(source.Groups, same.Groups)
		means, err := shifttest.MeansTest(sample)
		if err != nil {
			return err
		}
		t.test("means", means.P)
		distances, err := shifttest.KolmogorovSmirnovTest(sample)
		if err != nil {
			return err
		}
		t.test("Kolmogorov-Smirnov", distances.P)
	}
	thresholds, err := sets.Fit(k, source.Probabilities, source.Labels, source.Groups, 0.9)
	if err != nil {
		return err
	}
	in, of := make([]float64, k), make([]float64, k)
	for i, class := range target.Labels {
		of[class]++
		if slices.Contains(thresholds.Of(target.Probabilities[i*k:(i+1)*k]), class) {
			in[class]++
		}
	}
	for class := range k {
		if of[class] > 0 {
			t.add(tally{More: map[string]count{"sets of 90%": {in[class] / of[class], 1, 0}}})
		}
	}
	return nil
}

// neighbours returns what share of the nearest rows for training is of each class, of rows whose
// probabilities stand for their features.
func (c cell) neighbours(train, of gaussians.Drawn) []float64 {
	k := c.classes
	features := calibration.CenteredLogs(train.Probabilities, k, 0)
	shares := make([]float64, len(of.Probabilities))
	distances, order := make([]float64, len(train.Labels)), make([]int, len(train.Labels))
	for i, row := range slices.Collect(slices.Chunk(calibration.CenteredLogs(of.Probabilities, k, 0), k)) {
		for j := range distances {
			distances[j] = floats.Distance(row, features[j*k:(j+1)*k], 2)
		}
		floats.Argsort(distances, order)
		for _, j := range order[:c.near] {
			shares[i*k+train.Labels[j]] += 1 / float64(c.near)
		}
	}
	return shares
}

func bin(share float64) string {
	for _, limit := range []float64{0, 0.003, 0.02, 0.06, 0.2} {
		if share <= limit {
			return fmt.Sprintf("up to %g", limit)
		}
	}
	return "above 0.2"
}

func holds(i intervals.Interval, truth float64) int {
	if i.Low <= truth && truth <= i.High {
		return 1
	}
	return 0
}

// count is how often something held, or a test rejected, of how many times, and the widths' sum.
type count struct {
	Held  float64 `json:"held"`
	Of    float64 `json:"of"`
	Width float64 `json:"width,omitempty"`
}

// tally is what was counted in some draws.
type tally struct {
	Draws    int              `json:"draws"`
	Shares   []int            `json:"shares"` // whose interval held the truth, by class
	Weights  []int            `json:"weights"`
	Joint    []int            `json:"joint,omitempty"` // whose joint intervals held all shares, all weights; none: not counted
	Tested   int              `json:"tested"`
	Rejected int              `json:"rejected"`
	More     map[string]count `json:"more,omitempty"`
}

func newTally(classes int) tally {
	return tally{Shares: make([]int, classes), Weights: make([]int, classes), Joint: make([]int, 2), More: map[string]count{}}
}

// interval counts one that should hold the truth.
func (t *tally) interval(name string, i intervals.Interval, truth float64) {
	t.add(tally{More: map[string]count{name: {float64(holds(i, truth)), 1, i.High - i.Low}}})
}

// labelShift counts the test of label shift.
func (t *tally) labelShift(s *classshares.Shares, seed uint64) error {
	shift, err := s.TestLabelShift(shifttest.LabelShiftSettings{Seed: seed})
	if err == nil && shift.Tested() {
		t.Tested = 1
		if shift.Rejected() {
			t.Rejected = 1
		}
	}
	return err
}

// test counts one that should not reject.
func (t *tally) test(name string, p float64) {
	rejected := 0.0
	if p < shifttest.Significance {
		rejected = 1
	}
	t.add(tally{More: map[string]count{name + " rejects": {rejected, 1, 0}}})
}

func (t *tally) add(other tally) {
	t.Draws, t.Tested, t.Rejected = t.Draws+other.Draws, t.Tested+other.Tested, t.Rejected+other.Rejected
	for y := range other.Shares {
		t.Shares[y] += other.Shares[y]
		t.Weights[y] += other.Weights[y]
	}
	for i := range other.Joint {
		t.Joint[i] += other.Joint[i]
	}
	for name, c := range other.More {
		sum := t.More[name]
		t.More[name] = count{sum.Held + c.Held, sum.Of + c.Of, sum.Width + c.Width}
	}
}

// String gives percentages: of all classes, with the worst and the best one, of the joint
// intervals, and of the tests.
func (t tally) String() string {
	percent := func(count, of int) float64 { return 100 * float64(count) / float64(of) }
	held := func(counts []int) string {
		sum := 0
		for _, count := range counts {
			sum += count
		}
		return fmt.Sprintf("%.1f (%.1f–%.1f)", percent(sum, t.Draws*len(counts)), percent(slices.Min(counts), t.Draws), percent(slices.Max(counts), t.Draws))
	}
	joint, rejected := "–", "–"
	if t.Joint != nil {
		joint = fmt.Sprintf("%.1f, %.1f", percent(t.Joint[0], t.Draws), percent(t.Joint[1], t.Draws))
	}
	if t.Tested > 0 {
		rejected = fmt.Sprintf("%.1f of %d", percent(t.Rejected, t.Tested), t.Tested)
	}
	return fmt.Sprintf("%s | %s | %s | %s", held(t.Shares), held(t.Weights), joint, rejected)
}

// line is that of a cell in a table, of the numbers that matter there.
func (t tally) line(c cell) string {
	sum := 0
	for _, held := range t.Shares {
		sum += held
	}
	rejected := "–"
	if t.Tested > 0 {
		rejected = fmt.Sprintf("%.1f", 100*float64(t.Rejected)/float64(t.Tested))
	}
	return fmt.Sprintf("| %s | %d | %.1f | %.1f | %s | %s |\n", c, t.Draws, 100*float64(sum)/float64(t.Draws*len(t.Shares)), 100*float64(t.Joint[0])/float64(t.Draws), rejected, t.rest())
}

// rest gives the percentages of everything else.
func (t tally) rest() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(t.More)) {
		c := t.More[name]
		part := fmt.Sprintf("%s %.1f", name, 100*c.Held/c.Of)
		if c.Width > 0 {
			part += fmt.Sprintf(" (width %.1f)", 100*c.Width/c.Of)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}
