package classshares_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"iwda/inference/classshares"
	"iwda/internal/must"
	"iwda/weightest"
	"iwda/weightest/intervals"
)

// Logits that are called probabilities are an error that names the row. Rounded probabilities,
// whose sum is not 1, are not.
func TestRowsThatAreNoProbabilities(t *testing.T) {
	labels := []int{0, 1, 1, 0}
	probabilities := []float32{0.6, 0.4, 0.3, 0.7, 0.4, 0.6, 0.5, 0.5}
	logits := []float32{2, -1, 0.3, 0.7, -3, 1, 1, 0}
	fit := func(heldOut, target []float32) error {
		_, err := classshares.Fit(2, classshares.Rows{Values: heldOut, Probabilities: true}, labels,
			classshares.Rows{Values: target, Probabilities: true}, classshares.Settings{})
		return err
	}
	if err := fit(logits, probabilities); !errors.Is(err, weightest.ErrInvalidRow) || !strings.Contains(err.Error(), "source row 0") {
		t.Errorf("logits of the source: %v", err)
	}
	if err := fit(probabilities, logits); !errors.Is(err, weightest.ErrInvalidRow) || !strings.Contains(err.Error(), "target row 0") {
		t.Errorf("logits of the target: %v", err)
	}
	if err := fit(probabilities, []float32{0.3, 0.6, 0.66, 0.33}); err != nil {
		t.Errorf("rounded probabilities: %v", err)
	}
}

// Arguments that make no sense are errors that say so.
func TestArguments(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	heldOut, labels := onLine(random, sourceShares, 300, 1)
	target, predicted := onLine(random, targetShares, 200, 1)
	s := must.Have(classshares.Fit(3, heldOut, labels, target, classshares.Settings{}))(t)
	_, few := s.Performance(labels, predicted[:100], intervals.BootstrapSettings{})
	_, other := s.Performance(labels, append([]int{3}, predicted[1:]...), intervals.BootstrapSettings{})
	_, percent := s.Performance(labels, predicted, intervals.BootstrapSettings{Level: 95})
	_, none := classshares.OfTarget(nil, sourceShares)
	for want, err := range map[string]error{
		"100 predictions of 200 rows": few, "class 3 is predicted of row 0; there are 3 classes": other,
		"the level is 95": percent, "there are none": none,
	} {
		must.Fail(t, err, want)
	}
}
