package labelshift

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"iwda/classshares"
	"iwda/weightest"
	"iwda/weightest/calibration"
)

// Settings say how class shares are estimated; Default returns the usual ones.
type Settings struct {
	Estimator   string // one of weightest.EstimatorNames
	Calibration string // one of calibration.Names
	Intervals   string // one of IntervalNames
	Replicas    int    // of the bootstrap
	Level       float64
	Seed        uint64
	// TrainShares are the class shares under which the classifier's own probabilities
	// are right: equal ones for one that was trained with a balanced loss. nil stands
	// for the source's. Otherwise the probabilities are first turned into those for the
	// source's shares, before all else.
	TrainShares []float64
}

// Default returns the estimator and calibration of package classshares, with intervals at 95%
// from 500 replicas.
func Default() Settings {
	return Settings{Estimator: "mlls", Calibration: classshares.DefaultCalibration, Intervals: BootstrapIntervals, Replicas: 500, Level: 0.95}
}

// The kinds of intervals.
const (
	NoIntervals        = "none"
	BootstrapIntervals = "bootstrap"
	BayesIntervals     = "bayes"
	FisherIntervals    = "fisher"
)

// IntervalNames returns the kinds of intervals.
func IntervalNames() []string {
	return []string{BootstrapIntervals, BayesIntervals, FisherIntervals, NoIntervals}
}

// Check returns an error where a setting is impossible.
func (s Settings) Check() error {
	if _, err := classshares.NewEstimator(s.Estimator); err != nil {
		return err
	}
	switch {
	case !slices.Contains(calibration.Names(), s.Calibration):
		return fmt.Errorf("no calibration %q; there are %s", s.Calibration, strings.Join(calibration.Names(), ", "))
	case !slices.Contains(IntervalNames(), s.Intervals):
		return fmt.Errorf("no intervals %q; there are %s", s.Intervals, strings.Join(IntervalNames(), ", "))
	case s.Intervals == FisherIntervals && s.Estimator != "mlls":
		return fmt.Errorf("intervals by Fisher's information are those of mlls, not of %s", s.Estimator)
	case s.Replicas < 2:
		return fmt.Errorf("%d replicas; a bootstrap needs two or more", s.Replicas)
	case !(s.Level > 0 && s.Level < 1):
		return fmt.Errorf("a level of %v; it must lie between 0 and 1", s.Level)
	}
	return nil
}

// checkForSums returns an error where the settings need rows and there are sums alone.
func (s Settings) checkForSums() error {
	if err := s.Check(); err != nil {
		return err
	}
	requires, err := weightest.RequirementOf(s.Estimator)
	switch {
	case err != nil:
		return err
	case requires == weightest.HeldOutRows:
		return fmt.Errorf("%s reads rows, and sums have none; there %s work", s.Estimator, strings.Join(estimatorsOfSums(), ", "))
	case s.Calibration != "none":
		return fmt.Errorf("sums cannot be calibrated by %s any more: calibrate the probabilities before they are counted", s.Calibration)
	case s.TrainShares != nil:
		return errors.New("sums cannot be corrected for the shares in training any more: correct the probabilities before they are counted")
	}
	return nil
}

// estimatorsOfSums are the names of the estimators that read sums alone.
func estimatorsOfSums() []string {
	return slices.DeleteFunc(weightest.EstimatorNames(), func(name string) bool {
		requires, err := weightest.RequirementOf(name)
		return err != nil || requires == weightest.HeldOutRows
	})
}

// checkReplicas returns an error where the sums of a bootstrap would take too much memory.
func checkReplicas(replicas, classes int) error {
	const limit, bytes = 2 << 30, 24 // of a soft and a hard sum
	if size := float64(replicas) * float64(classes) * float64(classes+1) * bytes; size > limit {
		return fmt.Errorf("%d replicas of the sums of %d classes take %.0f GB; up to %d fit in 2",
			replicas, classes, math.Ceil(size/1e9), int(float64(replicas)*limit/size))
	}
	return nil
}
