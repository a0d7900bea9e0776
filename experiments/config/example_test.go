package config_test

import (
	"fmt"

	"iwda/experiments/config"
)

const experiment = `
experiment: digits
dataset: {name: digits}
tasks: [mnist-usps, usps-mnist]
variants: [subsampled]
methods: [dann, iwdan]
seeds: [1, 2]
overrides:
  - when: {task: usps-mnist}
    train: {epochs: 60, schedule: {every: 6}}
`

func ExampleParse() {
	file, err := config.Parse("digits.yaml", []byte(experiment))
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := file.Resolve("usps-mnist", "subsampled", "iwdan", 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Train.Epochs, run.Train.Schedule.Every, run.Train.Optimizer.LR)
	// Output: 60 6 0.02
}

func ExampleParse_mistakes() {
	_, err := config.Parse("digits.yaml", []byte(experiment+`
train: {epochs: -1, bacth: 64}
`))
	fmt.Println(err)
	// Output:
	// digits.yaml:12:17: train.epochs is -1; it must be at least 1
	// digits.yaml:12:21: unknown key "bacth" in train; did you mean "batch"?
}

func ExampleFile_Set() {
	file, err := config.Parse("digits.yaml", []byte(experiment))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Set([]string{"train.epochs=2", "methods=[source-only]"}))
	run, err := file.Resolve("usps-mnist", "subsampled", "source-only", 1)
	fmt.Println(run.Train.Epochs, run.Train.Schedule.Every, err)
	fmt.Println(file.Set([]string{"train.epohcs=2"}))
	// Output:
	// <nil>
	// 2 6 <nil>
	// --set train.epohcs=2: unknown key "epohcs" in train; did you mean "epochs"?
}
