package schedule

import (
	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// State is where a run is.
type State int

// The states. A run is Skipped, perhaps after it was Waiting, or it is Started,
// Running for any number of updates, which begin anew each time it is started Again,
// and then Finished, Failed or Stopped.
const (
	Skipped State = iota // had been finished before, or by another iwrun meanwhile
	Waiting              // for another iwrun, which makes this run
	Started
	Running
	Again // its worker died, another one goes on
	Finished
	Failed
	Stopped // asked to stop before its end
)

// Update is something that happened to a run.
type Update struct {
	Run      plan.Run
	State    State
	Reason   string       // if Waiting or Again
	Attempt  int          // if Again: the number of the worker that starts, from 2
	Attempts int          // if Again: the number of workers that may be started in all
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
