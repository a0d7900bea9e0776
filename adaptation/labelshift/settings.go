package labelshift

import (
	"fmt"
	"slices"
	"strings"

	"iwda/inference/classshares"
	"iwda/weightest/calibration"
)

// Settings say how class shares are estimated; Default returns the usual ones.
type Settings struct {
	Estimator   string // one of weightest.EstimatorNames
	Calibration string // one of calibration.Names
	Replicas    int    // of the bootstrap behind the intervals; 0: no intervals
	Level       float64
	Seed        uint64
	// TrainShares are the class shares under which the classifier's own probabilities
	// are right: equal ones for one that was trained with a balanced loss. nil stands
	// for the source's. Otherwise the probabilities are first turned into those for the
	// source's shares, before all else.
	TrainShares []float64
	// LabelShift says that only class shares differ, and Needs what somebody needs of the corrected
	// predictions, as [trust.ParseNeeds] reads them.
	LabelShift bool
	Needs      []string
	// Sets is the probability with which a row's set of classes has its class, as package sets has it; 0: no sets.
	Sets float64
}

// Default returns the estimator and calibration of package classshares, with intervals at 95%
// from 500 replicas.
func Default() Settings {
	return Settings{Estimator: "mlls", Calibration: classshares.DefaultCalibration, Replicas: 500, Level: 0.95}
}

// Check returns an error where a setting is impossible.
func (s Settings) Check() error {
	if _, err := classshares.NewEstimator(s.Estimator); err != nil {
		return err
	}
	switch {
	case !slices.Contains(calibration.Names(), s.Calibration):
		return fmt.Errorf("no calibration %q; there are %s", s.Calibration, strings.Join(calibration.Names(), ", "))
	case s.Replicas < 0 || s.Replicas == 1:
		return fmt.Errorf("%d replicas; a bootstrap needs two or more, and 0 makes no intervals", s.Replicas)
	case !(s.Level > 0 && s.Level < 1):
		return fmt.Errorf("a level of %v; it must lie between 0 and 1", s.Level)
	case s.Sets != 0 && !(s.Sets > 0 && s.Sets < 1):
		return fmt.Errorf("sets of the level %v; it must lie between 0 and 1", s.Sets)
	}
	return nil
}
