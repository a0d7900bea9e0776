package schedule_test

import (
	"errors"
	"os"

	"iwda/experiments/plan"
	"iwda/experiments/schedule"
)

func ExampleReporter() {
	reporter := schedule.NewReporter(os.Stdout)
	reporter.Progress(plan.Progress{Step: 10, Steps: 700})
	reporter.Failed(errors.New("the loss is not a number"))
	// Output:
	// {"event":"progress","step":10,"steps":700}
	// {"event":"failed","reason":"the loss is not a number"}
}
