package weightest

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
)

// Replicas are the sums of the bootstrap's resamples of a source and a target sample. A
// row counts in each of them a number of times that has the Poisson distribution of mean
// 1 and is a hash of the seed, the domain, the row's number and the replica's. So rows
// can be added in any order and in any parts, on any number of machines: what is merged
// in the end is the same, bit for bit.
type Replicas struct {
	seed uint64
	sums []*Sums
}

// NewReplicas returns the sums of so many resamples of no rows. It panics unless
// classes ≥ 1 and count ≥ 1.
func NewReplicas(classes, count int, seed uint64) *Replicas {
	if count < 1 {
		panic(fmt.Sprintf("weightest: a bootstrap of %d replicas", count))
	}
	r := &Replicas{seed: seed, sums: make([]*Sums, count)}
	for i := range r.sums {
		r.sums[i] = NewSums(classes)
	}
	return r
}

// Count returns the number of replicas.
func (r *Replicas) Count() int { return len(r.sums) }

// Seed returns the seed of the resamples.
func (r *Replicas) Seed() uint64 { return r.seed }

// Sums returns the sums of a replica. They are the replica's own.
func (r *Replicas) Sums(replica int) *Sums { return r.sums[replica] }

// resampledRows is the number of rows that are read once for all replicas: as much as
// stays in a fast cache.
const resampledRows = 512

// AddSource adds held-out source rows as Sums.AddSource does. Their numbers are first,
// first+1, …: what tells a row from all other source rows of the bootstrap. A row that is
// added twice with one number counts twice as often.
func (r *Replicas) AddSource(probabilities []float64, labels []int, first uint64) error {
	k := r.sums[0].classes
	checkLengths("source", len(probabilities), len(labels), k, nil)
	if err := checkSource(probabilities, labels, k, 0); err != nil {
		return err
	}
	r.add(sourceDomain, probabilities, labels, first)
	return nil
}

// AddTarget adds target rows as Sums.AddTarget does, with numbers as AddSource's.
func (r *Replicas) AddTarget(probabilities []float64, first uint64) error {
	k := r.sums[0].classes
	checkLengths("target", len(probabilities), len(probabilities)/k, k, nil)
	if err := checkRows("target", probabilities, k, 0); err != nil {
		return err
	}
	r.add(targetDomain, probabilities, nil, first)
	return nil
}

// add adds the rows of a domain, whose labels are nil in the target, to all replicas.
func (r *Replicas) add(of domain, probabilities []float64, labels []int, first uint64) {
	k := r.sums[0].classes
	rows := len(probabilities) / k
	workers := runtime.GOMAXPROCS(0)
	inParallel(workers, func(worker int) {
		replica := worker * len(r.sums) / workers
		mine := r.sums[replica : (worker+1)*len(r.sums)/workers]
		keys, counts := make([]uint64, resampledRows), make([]int, resampledRows)
		block := fixedRows{values: make([]uint64, resampledRows*k), predicted: make([]int, resampledRows)}
		for from := 0; from < rows; from += resampledRows {
			to := min(from+resampledRows, rows)
			block.set(probabilities[from*k : to*k])
			if labels != nil {
				block.labels = labels[from:to]
			}
			rowKeys(keys[:to-from], r.seed, of, first+uint64(from))
			for i, sums := range mine {
				poissonCounts(counts[:to-from], keys, replica+i)
				sums.addFixedRows(block, counts[:to-from])
			}
		}
	})
}

// fixedRows are rows as all replicas add them: in fixed point, with their largest entries.
type fixedRows struct {
	values    []uint64 // row-major rows×k, in units of FixedPoint
	predicted []int
	labels    []int // nil in the target
}

func (f *fixedRows) set(probabilities []float64) {
	for i, p := range probabilities {
		f.values[i] = toFixed(p)
	}
	k := len(f.values) / len(f.predicted)
	for row := range len(probabilities) / k {
		f.predicted[row] = argmax(probabilities[row*k : (row+1)*k])
	}
}

// addFixedRows adds the rows, each as often as it counts, as addSource and addTarget do.
func (s *Sums) addFixedRows(rows fixedRows, counts []int) {
	k := s.classes
	soft, hard, total := s.softTarget, s.hardTarget, &s.targetRows
	if rows.labels != nil {
		total = &s.sourceRows
	}
	for i, count := range counts {
		if count == 0 {
			continue
		}
		if rows.labels != nil {
			first := rows.labels[i] * k
			soft, hard = s.softJoint[first:first+k], s.hardJoint[first:first+k]
		}
		*total += count
		hard[rows.predicted[i]] += count
		row := rows.values[i*k : (i+1)*k]
		if count == 1 {
			for j, v := range row {
				soft[j].sum(FixedPoint{0, v})
			}
			continue
		}
		for j, v := range row {
			soft[j].addUnits(v, count)
		}
	}
}

// inParallel runs the tasks 0, 1, … at the same time on as many goroutines as there are
// processors.
func inParallel(tasks int, run func(task int)) {
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(tasks, runtime.GOMAXPROCS(0)) {
		done.Go(func() {
			for task := int(next.Add(1)) - 1; task < tasks; task = int(next.Add(1)) - 1 {
				run(task)
			}
		})
	}
	done.Wait()
}

// Merge adds the sums of other rows in the same resamples. Replicas of another seed,
// number or number of classes are an error that changes nothing.
func (r *Replicas) Merge(other *Replicas) error {
	if other.seed != r.seed || len(other.sums) != len(r.sums) {
		return fmt.Errorf("weightest: %d replicas of seed %d cannot be added to %d of seed %d",
			len(other.sums), other.seed, len(r.sums), r.seed)
	}
	for i, s := range other.sums {
		if err := r.sums[i].Merge(s); err != nil {
			return err
		}
	}
	return nil
}

// ReplicasState is all that Replicas remember, for files.
type ReplicasState struct {
	Seed uint64
	Sums []SumsState // of each replica
}

// State returns a copy of the replicas' state.
func (r *Replicas) State() ReplicasState {
	state := ReplicasState{Seed: r.seed}
	for _, s := range r.sums {
		state.Sums = append(state.Sums, s.State())
	}
	return state
}

// RestoreReplicas returns the replicas of a state. A state without replicas, and one whose
// parts do not fit each other, are an error.
func RestoreReplicas(state ReplicasState) (*Replicas, error) {
	if len(state.Sums) == 0 {
		return nil, errors.New("weightest: the saved bootstrap has no replica")
	}
	r := &Replicas{seed: state.Seed}
	for i, saved := range state.Sums {
		s, err := RestoreSums(saved)
		if err != nil {
			return nil, fmt.Errorf("replica %d: %w", i, err)
		}
		if classes := state.Sums[0].Classes; s.classes != classes {
			return nil, fmt.Errorf("weightest: replica %d of the saved bootstrap has %d classes, the first has %d", i, s.classes, classes)
		}
		r.sums = append(r.sums, s)
	}
	return r, nil
}

// Intervals runs the estimator on every replica and returns the intervals between
// percentiles of its estimates, further apart where a class has few source rows: see
// resampledReach. An estimator that reads target rows returns an error
// here: see Bootstrap.
//
// A resample can be one that has no estimate, most of all where a class has few source
// rows: it is left out, and the warning says how many were. The error of the first is
// returned where they are more than half.
//
// Where the problem has several solutions the intervals are wider by their Ambiguity.
func (r *Replicas) Intervals(e Estimator, level float64) (Uncertainty, error) {
	return r.intervals(e, level, func(replica int) (Problem, error) { return r.sums[replica].Problem() })
}

func (r *Replicas) intervals(e Estimator, level float64, problem func(replica int) (Problem, error)) (Uncertainty, error) {
	estimates := make([]Estimate, len(r.sums))
	failures := make([]error, len(r.sums))
	inParallel(len(r.sums), func(replica int) {
		p, err := problem(replica)
		if err == nil {
			estimates[replica], err = e.Estimate(p)
		}
		failures[replica] = err
	})
	var shares, weights [][]float64
	var failure error
	for i, estimate := range estimates {
		if failures[i] == nil {
			shares = append(shares, estimate.TargetDistribution)
			weights = append(weights, estimate.Weights)
		} else if failure == nil {
			failure = failures[i]
		}
	}
	failed := len(estimates) - len(weights)
	if 2*failed > len(estimates) {
		return Uncertainty{}, fmt.Errorf("weightest: %d of %d resamples have no estimate: %w", failed, len(estimates), failure)
	}
	rows := r.meanSourceRows()
	result := uncertaintyOf(shares, weights, level, resampledReach(rows))
	if failed > 0 {
		result.warn(fmt.Sprintf("%d of %d resamples have no estimate and are left out: %v", failed, len(estimates), failure))
	}
	ambiguity, err := r.ambiguity(e, problem)
	if err != nil {
		return Uncertainty{}, err
	}
	floats.Scale(1/floats.Sum(rows), rows)
	result.widen(ambiguity, rows)
	return result, nil
}

// ambiguity returns the largest of the first resamples, nil where one has one solution: what
// the sample leaves open, every resample does.
func (r *Replicas) ambiguity(e Estimator, problem func(replica int) (Problem, error)) (largest []float64, err error) {
	const first = 20
	for replica := range min(first, len(r.sums)) {
		p, err := problem(replica)
		if err != nil {
			continue // it has no estimate either
		}
		here, err := Ambiguity(e, p)
		if here == nil || err != nil {
			return nil, err
		}
		if largest == nil {
			largest = here
		}
		for j, bound := range here {
			largest[j] = math.Max(largest[j], bound)
		}
	}
	return largest, nil
}

// meanSourceRows returns the mean over the replicas of each class's number of source rows,
// length k: near the number that was added.
func (r *Replicas) meanSourceRows() []float64 {
	k := r.sums[0].classes
	mean := make([]float64, k)
	for _, s := range r.sums {
		for i, rows := range s.hardJoint {
			mean[i/k] += float64(rows) / float64(len(r.sums))
		}
	}
	return mean
}

// BootstrapSettings are the options of Bootstrap.
type BootstrapSettings struct {
	Replicas int     // 0 means 500
	Level    float64 // 0 means 0.95
	Seed     uint64
}

// Bootstrap returns intervals of an estimator's shares and weights: source and target
// rows are both resampled, so that the intervals know of the errors of C, mu and D_S
// alike, the estimator runs on every resample, and the intervals lie between percentiles
// of the estimates (Efron 1979). Calibration is taken as it is: the sample's probabilities
// are resampled after it.
//
// For an estimator that needs no rows the result is that of Replicas to which the
// sample's rows were added with numbers from 0. The error is that of the estimator on the
// sample itself; see Replicas.Intervals for resamples without an estimate.
func Bootstrap(s *Sample, e Estimator, settings BootstrapSettings) (Uncertainty, error) {
	if settings.Replicas <= 0 {
		settings.Replicas = 500
	}
	if settings.Level <= 0 {
		settings.Level = defaultLevel
	}
	e, err := onResamples(e, s)
	if err != nil {
		return Uncertainty{}, err
	}
	replicas := NewReplicas(s.classes, settings.Replicas, settings.Seed)
	if err := replicas.AddSource(s.source, s.labels, 0); err != nil {
		return Uncertainty{}, err
	}
	if err := replicas.AddTarget(s.target, 0); err != nil {
		return Uncertainty{}, err
	}
	keys := make([]uint64, len(s.target)/s.classes)
	rowKeys(keys, settings.Seed, targetDomain, 0)
	return replicas.intervals(e, settings.Level, func(replica int) (Problem, error) {
		p, err := replicas.sums[replica].Problem()
		counts := make([]int, len(keys))
		poissonCounts(counts, keys, replica)
		p.Rows = &Rows{Probabilities: s.target, Counts: counts}
		return p, err
	})
}

// onResamples returns the estimator for the resamples of a sample, or its error where it
// has no estimate for the sample itself.
func onResamples(e Estimator, s *Sample) (Estimator, error) {
	p, err := s.Problem(nil, nil)
	if err != nil {
		return nil, err
	}
	if _, is := e.(mlls); is {
		solution, err := MLLS(p, MLLSSettings{})
		return newResampledMLLS(p.Rows, solution), err
	}
	_, err = e.Estimate(p)
	return e, err
}
