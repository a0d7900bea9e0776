package report_test

import (
	"fmt"
	"os"

	"iwda/experiments/config"
	"iwda/experiments/report"
	"iwda/experiments/report/sheet"
	"iwda/experiments/store"
)

func ExampleTable() {
	experiment := config.Config{
		Experiment: "shapes",
		Tasks:      []string{"drawn-seen"},
		Variants:   []string{"full"},
		Methods:    []string{"dann", "iwdan"},
		Seeds:      []int64{1, 2},
	}
	run := store.Result{Experiment: "shapes", Variant: "full", Task: "drawn-seen"}
	var runs []store.Run
	for seed, accuracy := range []float64{0.8, 0.9} {
		run.Seed, run.Method = int64(seed+1), "dann"
		run.BestAccuracy, run.LastAccuracy = store.Measured(accuracy), store.Measured(accuracy-0.1)
		runs = append(runs, store.Run{Result: run})
		run.Method, run.BestAccuracy, run.LastAccuracy = "iwdan", store.Measured(0.85), store.Measured(0.85)
		runs = append(runs, store.Run{Result: run})
	}
	if err := report.Table("accuracy", runs, experiment).Write(os.Stdout, sheet.CSV); err != nil {
		fmt.Println(err)
	}
	// Output:
	// experiment,variant,task,method,seeds,planned,best,best_deviation,best_wins,best_ties,last,last_deviation,last_wins,last_ties,pairs,paper,paper_wins,difference
	// shapes,full,drawn-seen,dann,2,2,85,7.071068,,,75,7.071068,,,0,,,
	// shapes,full,drawn-seen,iwdan,2,2,85,0,50,0,85,0,100,0,2,,,
}
