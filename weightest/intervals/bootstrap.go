package intervals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/internal/clusters"
	"iwda/weightest"
	"iwda/weightest/internal/panels"
)

// BootstrapSettings are the options of Bootstrap.
type BootstrapSettings struct {
	Replicas int     // 0 means 500
	Level    float64 // below 1; 0 means 0.95
	Seed     uint64
	// Resample returns the problem of a resample in which rows count so often, with anything
	// else that is fitted to the rows, as a calibration is, fitted again. nil takes the sample's
	// probabilities as they are. Of many rows one resample is made at a time, which may take all
	// processors: each takes the memory of all rows twice.
	Resample func(source, target []int, random *rand.Rand) (weightest.Problem, error)
	// Observe is told of each resample that has an estimate, by several goroutines at the same time.
	Observe func(Resampled)
}

// Resampled is a resample: how often the rows of both domains count, its problem and its estimate.
type Resampled struct {
	Number         int
	Source, Target []int
	Problem        weightest.Problem
	Estimate       weightest.Estimate
	Low, High      []float64 // the ends of each class's share, of which the intervals are
}

// Bootstrap returns intervals of an estimator's shares and weights: source and target
// rows are both resampled, so that the intervals know of the errors of C, mu and D_S
// alike, the estimator runs on every resample, and the intervals lie between percentiles
// of the estimates (Efron 1979). With settings.Resample they know of the calibration's error
// too, which is the largest if the target has many more rows than the source.
//
// Where an estimator counts a row of each class beside the target's, those of all classes would draw shares towards
// each other, far if classes are as many as rows. So for the upper end of a class one more row is of it, for the lower
// end one is of another, and it counts as Exp(1) in a resample: what Clopper and Pearson add to one count, and Fay and Feuer
// (1997) to a weighted sum of several. No interval leaves out the estimate, which has the rows of all classes.
//
// All rows of a group of the sample count equally often, so that intervals know how much they have in
// common.
//
// A resample can be one that has no estimate, most of all where a class has few source
// rows: it is left out, and the warning says how many were. The error is that of the estimator on
// the sample itself, or of the first resample where more than half have no estimate.
//
// More classes than weightest.MostDense are an error.
// Where the problem has several solutions the intervals are wider by their Ambiguity.
func Bootstrap(s *weightest.Sample, e weightest.Estimator, settings BootstrapSettings) (Uncertainty, error) {
	if settings.Replicas <= 0 {
		settings.Replicas = 500
	}
	if settings.Level <= 0 {
		settings.Level = defaultLevel
	}
	if err := weightest.CheckResamples(s.Classes()); err != nil {
		return Uncertainty{}, err
	}
	p, err := s.Problem()
	if err != nil {
		return Uncertainty{}, err
	}
	likelihood, readsRows := e.(weightest.MLLS)
	estimate, err := e.Estimate(p)
	if err != nil {
		return Uncertainty{}, err
	}
	source, labels := s.Source()
	sourceGroups, targetGroups := s.Groups()
	sourceRows, targetRows := numbers(len(labels), sourceGroups), numbers(len(s.Target())/s.Classes(), targetGroups)
	sourceKeys, targetKeys := make([]uint64, len(labels)), make([]uint64, len(targetRows))
	rowKeys(sourceKeys, settings.Seed, sourceDomain, sourceRows)
	rowKeys(targetKeys, settings.Seed, targetDomain, targetRows)
	counts := func(keys []uint64, replica int) []int {
		counts := make([]int, len(keys))
		poissonCounts(counts, keys, replica)
		return counts
	}
	all := resamples{count: settings.Replicas, sourceRows: rowsOf(labels, s.Classes()), beside: likelihood.Pseudocount > 0}
	if all.ambiguity, err = weightest.Ambiguity(e, p); err != nil {
		return Uncertainty{}, err
	}
	resample := settings.Resample
	if resample != nil {
		all.unsure = max(1, floats.Sum(unsureOf(source, s.Classes())))
	} else {
		resample = func(source, target []int, _ *rand.Rand) (weightest.Problem, error) {
			p, err := s.Counted(source, target).Problem()
			p.Rows = &weightest.Rows{Probabilities: s.Target(), Counts: target}
			return p, err
		}
	}
	beside := 1.0 // how often a row counts on average that is counted beside the target's
	if targetGroups != nil {
		beside = together(s)
	}
	if sourceGroups != nil || targetGroups != nil {
		all.group(labels, sourceGroups, len(targetRows), targetGroups)
		all.unsure = min(all.unsure, clusters.Effective(unsureOf(source, s.Classes()), sourceGroups))
	}
	if settings.Observe != nil {
		all.observe = func(replica int, p weightest.Problem, e, low, high weightest.Estimate) {
			settings.Observe(Resampled{replica, counts(sourceKeys, replica), counts(targetKeys, replica), p, e, low.TargetDistribution, high.TargetDistribution})
		}
	}
	all.inTurn = len(targetRows) >= manyRows && (readsRows || settings.Resample != nil)
	all.problem = func(replica int) (weightest.Problem, error) {
		random := rand.New(rand.NewPCG(settings.Seed, uint64(replica)))
		p, err := resample(counts(sourceKeys, replica), counts(targetKeys, replica), random)
		if p.Rows != nil {
			rows := *p.Rows
			rows.Pseudocounts = make([]float64, s.Classes())
			for class := range rows.Pseudocounts {
				rows.Pseudocounts[class] = beside * random.ExpFloat64()
			}
			p.Rows = &rows
		}
		return p, err
	}
	return all.bound(e, estimate, settings.Level)
}

// together is how many rows of a class that the target may lack would come together: by how much groups make the
// variance of the mean of all classes' probabilities larger, or would one of mean size whose rows had as much in common as
// those of the source's groups have in their classes. At least 1.
func together(s *weightest.Sample) float64 {
	k := s.Classes()
	_, labels := s.Source()
	sourceGroups, targetGroups := s.Groups()
	_, count := clusters.Dense(targetGroups, len(targetGroups))
	classes := make([]float64, len(labels)*k)
	for i, y := range labels {
		classes[i*k+y] = 1
	}
	alike := clusters.Correlation(clusters.Inflation(classes, sourceGroups), sourceGroups, len(labels))
	return max(clusters.Inflation(s.Target(), targetGroups), 1+alike*(float64(len(targetGroups))/float64(count)-1))
}

// manyRows is the number of target rows from which on resamples are made in turn.
const manyRows = 200_000

// unsureOf is how unsure each row of k probabilities is: 1 where two classes have the probability 1/2, and 0 where one
// has 1.
func unsureOf(rows []float64, k int) (unsure []float64) {
	for row := range slices.Chunk(rows, k) {
		unsure = append(unsure, 2*(1-floats.Dot(row, row)))
	}
	return unsure
}

// rowsOf returns the number of rows of each of k classes.
func rowsOf(labels []int, k int) []float64 {
	rows := make([]float64, k)
	for _, label := range labels {
		rows[label]++
	}
	return rows
}

// resamples are those behind intervals.
type resamples struct {
	count      int
	problem    func(replica int) (weightest.Problem, error)
	sourceRows []float64 // of each class
	unsure     float64   // source rows, if a calibration was fitted to each resample; see refittedReach
	inTurn     bool      // they are made one after the other, and not several at the same time
	groups     float64   // of the domain that has fewer, each of equal weight; 0 if rows are on their own
	beside     bool      // a row of each class is counted beside the target's; see ends
	ambiguity  []float64 // of the sample, whose solutions explain each resample as well; nil for one solution
	observe    func(replica int, p weightest.Problem, e, low, high weightest.Estimate)
}

// group makes the resamples' degrees of freedom those of groups.
func (r *resamples) group(labels, source []int, target int, targetGroups []int) {
	r.groups = min(float64(len(labels))/clusters.Size(source, len(labels)), float64(target)/clusters.Size(targetGroups, target))
	for class := range r.sourceRows {
		weights := make([]float64, len(labels))
		for i, label := range labels {
			if label == class {
				weights[i] = 1
			}
		}
		r.sourceRows[class] = clusters.Effective(weights, source)
	}
}

// bound returns the intervals between percentiles of the resamples' estimates, for that of the sample. They are further
// apart where source rows of a class are few; if a calibration was fitted, where unsure rows are.
func (r resamples) bound(e weightest.Estimator, estimate weightest.Estimate, level float64) (Uncertainty, error) {
	if !(level > 0 && level < 1) {
		return Uncertainty{}, fmt.Errorf("intervals: the level is %v; it must be between 0 and 1", level)
	}
	low, high := make([]weightest.Estimate, r.count), make([]weightest.Estimate, r.count)
	failures := make([]error, r.count)
	run := panels.Each
	if r.inTurn {
		run = func(tasks int, run func(task int)) {
			for task := range tasks {
				runtime.GC() // each leaves as much memory behind as it takes
				run(task)
			}
		}
	}
	run(r.count, func(replica int) { low[replica], high[replica], failures[replica] = r.resample(replica, e) })
	var shares, weights, sharesAbove, weightsAbove [][]float64
	var failure error
	for i, err := range failures {
		if err == nil {
			shares, sharesAbove = append(shares, low[i].TargetDistribution), append(sharesAbove, high[i].TargetDistribution)
			weights, weightsAbove = append(weights, low[i].Weights), append(weightsAbove, high[i].Weights)
		} else if failure == nil {
			failure = err
		}
	}
	failed := r.count - len(weights)
	if 2*failed > r.count {
		return Uncertainty{}, fmt.Errorf("intervals: %d of %d resamples have no estimate: %w", failed, r.count, failure)
	}
	result := Uncertainty{Level: level}
	all := r.reaches()
	result.Outside = distuv.UnitNormal.Survival(all(len(r.sourceRows), percentileReach(len(shares), level)))
	between := func(shares, weights [][]float64) (ofShares, ofWeights Intervals) {
		if r.unsure > 0 {
			return shareIntervals(shares, level, all), drawnIntervals(weights, level, math.Inf(1), percentileReach(len(weights), level), all)
		}
		return drawnIntervals(shares, level, 1, normalReach(level), all), drawnIntervals(weights, level, math.Inf(1), normalReach(level), all)
	}
	result.Shares, result.Weights = between(shares, weights)
	if r.beside {
		ofShares, ofWeights := between(sharesAbove, weightsAbove)
		result.Shares.reach(ofShares, estimate.TargetDistribution)
		result.Weights.reach(ofWeights, estimate.Weights)
	}
	if failed > 0 {
		result.warn(fmt.Sprintf("%d of %d resamples have no estimate and are left out: %v", failed, r.count, failure))
	}
	ofSource := slices.Clone(r.sourceRows)
	floats.Scale(1/floats.Sum(ofSource), ofSource)
	result.widen(r.ambiguity, ofSource)
	return result, nil
}

// resample returns the estimates between which each class's number lies by that resample; see ends.
func (r resamples) resample(replica int, e weightest.Estimator) (low, high weightest.Estimate, err error) {
	p, err := r.problem(replica)
	if err != nil {
		return low, high, err
	}
	all, err := e.Estimate(p)
	if err != nil {
		return low, high, err
	}
	low, high = all, all
	if r.beside {
		low, high, err = ends(e, p, all)
	}
	if err == nil && r.observe != nil {
		r.observe(replica, p, all, low, high)
	}
	return low, high, err
}

// ends returns the estimates of a resample between which each class's number lies, by the one with a row of each
// class beside the target's. Of the target's rows a class has as many as by that one without the row of it, or as without any
// row beside; 2k more estimates would take long. For the upper end it has the larger number of both, and one row more that
// counts as often; for the lower end it has the smaller number, and the row that is more is of the next class. So the ends of one
// of two classes are those of the other.
func ends(e weightest.Estimator, p weightest.Problem, all weightest.Estimate) (low, high weightest.Estimate, err error) {
	rows, counts := *p.Rows, p.Rows.Pseudocounts
	target := float64(len(rows.Probabilities) / len(counts))
	for _, count := range rows.Counts {
		target += float64(count - 1)
	}
	if target == 0 {
		return all, all, nil
	}
	rows.Pseudocounts = make([]float64, len(counts))
	p.Rows = &rows
	if low, err = e.Estimate(p); err != nil {
		return low, high, err
	}
	total := target + floats.Sum(counts)
	high.TargetDistribution, high.Weights = slices.Clone(all.TargetDistribution), slices.Clone(all.Weights)
	for class, count := range counts {
		own, without := all.TargetDistribution[class], low.TargetDistribution[class]
		ofClass := max(0, own*total-count) // rows
		above := min(1, (max(ofClass, without*target)+count)/(target+count))
		high.TargetDistribution[class] = above
		high.Weights[class] *= above / own
		if own < 1 && without > 0 { // else there is no other class, or nothing below
			below := min(ofClass, without*target) / (target + counts[(class+1)%len(counts)])
			low.TargetDistribution[class] = below
			low.Weights[class] *= below / without
		}
	}
	return low, high, nil
}

// reaches returns what takes a number of standard errors to the one by which the intervals of a class reach as far
// as they should, and of all rows together if the class is the number of classes.
func (r resamples) reaches() func(class int, reach float64) float64 {
	if r.unsure > 0 {
		return refittedReach(r.unsure, r.groups)
	}
	return resampledReach(append(slices.Clone(r.sourceRows), floats.Sum(r.sourceRows)), r.groups)
}
