package main

import (
	"fmt"
	"io"
	"strings"

	"iwda/experiments/schedule"
)

// printSummary says how many runs ended how, and names those that failed or are left.
func printSummary(w io.Writer, s schedule.Summary) {
	if len(s.Failed) == 0 && len(s.Left) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%d finished, %d finished before, %d failed, %d left\n",
		len(s.Finished), len(s.Skipped), len(s.Failed), len(s.Left))
	for _, failure := range s.Failed {
		fmt.Fprintf(w, "failed: %v: %s\n        log: %s\n",
			failure.Run.ID, strings.ReplaceAll(failure.Error(), "\n", "\n        | "), failure.Log)
	}
	for _, run := range s.Left {
		fmt.Fprintf(w, "left: %v\n", run.ID)
	}
}
