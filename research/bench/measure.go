package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"iwda/experiments/schedule"
	"iwda/research/bench/worker"
)

// environments are those in which the sides run.
type environments struct {
	ours  []string // what iwrun gives a worker of one thread
	plain []string // one thread
	// forgotten are the settings of OpenBLAS that no side gets.
	forgotten []string
	// given are the kernels of OpenBLAS that the peer gets, as those that OpenBLAS chooses are
	// older than the processor; "" for the latter.
	given string
}

func newEnvironments(python string) (environments, error) {
	forgotten := worker.ForgetKernels()
	plain := append(os.Environ(), "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	peer, err := describe(plain, python, "research/bench/peer.py", "versions")
	given := betterKernels(peer.kernels)
	if given != "" {
		plain = append(plain, "OPENBLAS_CORETYPE="+given)
	}
	return environments{ours: schedule.Environment(1), plain: plain, forgotten: forgotten, given: given}, err
}

// pace bounds what is spent on a work.
type pace struct {
	rounds int           // at most
	time   time.Duration // in which further rounds have to end
}

// another tells whether a work gets another round after so many, which took so long
// together. There is always one, and a second one unless the first took all the time;
// then one as long as the mean of those so far has to fit.
func (p pace) another(done int, took time.Duration) bool {
	switch {
	case done == 0:
		return true
	case done >= p.rounds:
		return false
	case done == 1:
		return took < p.time
	}
	return took+took/time.Duration(done) <= p.time
}

// measure alternates between the sides, so that a slow spell of the machine hits all,
// and takes the median of the rounds.
func (b *bench) measure(w work, p pace) (result, error) {
	r := result{Work: w.name, Goal: w.goal.limit, Unit: w.goal.unit, Below: w.goal.below}
	var ours, peers, ratios, values []float64
	for started := time.Now(); p.another(r.Rounds, time.Since(started)); r.Rounds++ {
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
