package plan_test

import (
	"fmt"

	"iwda/experiments/config"
	"iwda/experiments/plan"
)

func ExampleRuns() {
	file, err := config.Parse("digits.yaml", []byte(`
experiment: digits
dataset: {name: digits}
tasks: [mnist-usps, usps-mnist]
variants: [subsampled]
methods: [dann, iwdan]
seeds: [1, 2]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	runs, err := plan.Runs(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	runs, err = plan.Only(runs, []string{"*/usps-mnist/iw*/*", "*/*/dann/seed-1"})
	for _, run := range runs {
		fmt.Println(run.ID, run.Config.Train.Epochs)
	}
	fmt.Println(err)
	// Output:
	// subsampled/mnist-usps/dann/seed-1 70
	// subsampled/usps-mnist/dann/seed-1 70
	// subsampled/usps-mnist/iwdan/seed-1 70
	// subsampled/usps-mnist/iwdan/seed-2 70
	// <nil>
}
