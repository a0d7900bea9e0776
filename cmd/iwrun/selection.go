package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// selection names some runs of a plan.
type selection struct {
	Only  []string // globs of run ids; none: all
	Index int      // of one run of the plan, from 0; allRuns: all
}

// allRuns is the index that stands for no index.
const allRuns = -1

func selectionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "only", Usage: "only runs whose ids fit the `GLOB`, as in 'subsampled/usps-mnist/*/seed-1'; may be repeated"},
		&cli.IntFlag{Name: "index", Value: allRuns, DefaultText: "all", Usage: "only the run of that `NUMBER` in the list of --dry-run, from 0"},
	}
}

func selectionOf(c *cli.Context) selection {
	return selection{Only: where(c, "only").StringSlice("only"), Index: where(c, "index").Int("index")}
}

// choose returns the selected runs with their positions in the plan.
func (s selection) choose(runs []plan.Run) (chosen []plan.Run, indices []int, err error) {
	usage := "iwrun -c FILE --only GLOB | --index NUMBER"
	switch {
	case s.Index == allRuns:
		chosen, err = plan.Only(runs, s.Only)
	case len(s.Only) > 0:
		err = usageError("--index and --only: one of the two says which runs", usage)
	case s.Index < 0 || s.Index >= len(runs):
		err = usageError(fmt.Sprintf("--index %d: the experiment has %d runs, from 0 to %d", s.Index, len(runs), len(runs)-1), usage)
	default:
		chosen = runs[s.Index : s.Index+1]
	}
	if err != nil {
		return nil, nil, err
	}
	positions := map[store.ID]int{}
	for i, run := range runs {
		positions[run.ID] = i
	}
	for _, run := range chosen {
		indices = append(indices, positions[run.ID])
	}
	return chosen, indices, nil
}
