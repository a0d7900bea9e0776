package main

import (
	"fmt"
	"os"
	"slices"

	"iwda/bench/worker"
	"iwda/experiments/schedule"
)

// environments are those in which the sides run.
type environments struct {
	ours  []string // what iwrun gives a worker of one thread
	plain []string // one thread
	// forgotten are the settings of OpenBLAS that no side gets.
	forgotten []string
}

func newEnvironments() environments {
	forgotten := worker.ForgetKernels()
	plain := append(os.Environ(), "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	return environments{ours: schedule.Environment(1), plain: plain, forgotten: forgotten}
}

// measure alternates between the sides, so that a slow spell of the machine hits all,
// and takes the median of the rounds.
func (b *bench) measure(w work, rounds int) (result, error) {
	r := result{Work: w.name, Goal: w.goal.limit, Unit: w.goal.unit, Below: w.goal.below, Rounds: rounds}
	var ours, peers, ratios, values []float64
	for range rounds {
		mine, err := w.ours(b, b.environments.ours)
		if err != nil {
			return result{}, err
		}
		ours, values = append(ours, mine["ms"]), append(values, mine["value"])
		if w.peer == nil {
			continue
		}
		theirs, err := w.theirs(b, b.environments.plain, mine)
		if err != nil {
			return result{}, err
		}
		peers, ratios = append(peers, theirs), append(ratios, theirs/mine["ms"])
	}
	r.OursMS, r.PeerMS, r.Ratio = median(ours), median(peers), median(ratios)
	if w.goal.unit == ratioUnit {
		values = ratios
	}
	r.Value, r.Spread = median(values), []float64{slices.Min(values), slices.Max(values)}
	return r, nil
}

// timings are the numbers in which the sides differ.
var timings = []string{"ms", "value"}

// theirs returns the peer's milliseconds, once its other numbers agree with ours.
func (w work) theirs(b *bench, environment []string, mine numbers) (float64, error) {
	theirs, err := w.peer(b, environment)
	if err != nil {
		return 0, err
	}
	for name, value := range theirs {
		if own, both := mine[name]; both && !slices.Contains(timings, name) && !agree(own, value) {
			return 0, fmt.Errorf("the sides do not compute the same: %s is %v here, %v there", name, own, value)
		}
	}
	return theirs["ms"], nil
}

// median returns the middle value, 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
