package store_test

import (
	"fmt"
	"os"

	"iwda/experiments/store"
)

func ExampleDir() {
	root, err := os.MkdirTemp("", "results")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)

	id := store.ID{Variant: "full", Task: "mnist-usps", Method: "dann", Seed: 1}.String()
	dir := store.NewDir(root, "digits", id)
	if err := dir.Begin(); err != nil {
		fmt.Println(err)
		return
	}
	err = dir.WriteResult(store.Result{
		ID: id, Experiment: "digits", Variant: "full", Task: "mnist-usps", Method: "dann", Seed: 1,
		ConfigHash: "abc", BestAccuracy: store.Measured(0.91), LastAccuracy: store.Measured(0.9),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hash := range []string{"abc", "other"} {
		result, finished, err := dir.Finished(hash)
		fmt.Println(result.BestAccuracy.Value, finished, err)
	}
	runs, problems := store.Collect(root, "digits")
	fmt.Println(len(runs), len(problems))
	// Output:
	// 0.91 true <nil>
	// 0.91 false <nil>
	// 1 0
}
