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
	Reason   string        // if Waiting or Again
	Attempt  int           // if Again: the number of the worker that starts, from 2
	Attempts int           // if Again: the number of workers that may be started in all
	Progress plan.Progress // if Running
	Result   store.Result  // if Finished or Skipped
	Failure  Failure       // if Failed
}
