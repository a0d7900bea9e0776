package schedule

import (
	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// State is where a run is.
type State int

// The states. A run is Skipped, or it is Started, Running for any number of
// updates, and then Finished, Failed or Stopped.
const (
	Skipped State = iota // had been finished before
	Started
	Running
	Finished
	Failed
	Stopped // asked to stop before its end
)

// Update is something that happened to a run.
type Update struct {
	Run      plan.Run
	State    State
	Progress Progress     // if Running
	Result   store.Result // if Finished or Skipped
	Failure  Failure      // if Failed
}

// Progress is how far a run has come.
type Progress struct {
	Epoch, Epochs int     // the current epoch, counted from 1, and the last one
	Step, Steps   int     // steps completed since the start of the run and at its end
	Accuracy      float64 // of the last evaluation, fraction of 1; NaN before
	Loss          float64 // of the last steps; NaN before
}

// Fraction returns the completed part of the run, from 0 to 1.
func (p Progress) Fraction() float64 {
	if p.Steps <= 0 {
		return 0
	}
	return min(max(float64(p.Step)/float64(p.Steps), 0), 1)
}
