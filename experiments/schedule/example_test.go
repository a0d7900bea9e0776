package schedule

import (
	"os"

	"iwda/experiments/plan"
)

// What a worker writes on its standard output.
func Example_events() {
	report(os.Stdout, event{Kind: progressEvent, Progress: plan.Progress{Step: 10, Steps: 700}})
	report(os.Stdout, event{Kind: failedEvent, Reason: "the loss is not a number"})
	// Output:
	// {"event":"progress","step":10,"steps":700}
	// {"event":"failed","reason":"the loss is not a number"}
}
