package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// result is a line of the table and of the JSON file.
type result struct {
	Work   string  `json:"work"`
	OursMS float64 `json:"ours_ms,omitempty"`
	PeerMS float64 `json:"peer_ms,omitempty"`
	Ratio  float64 `json:"ratio,omitempty"` // the peer's time over ours: above 1, we are faster
	// Value is what is compared with the goal, the ratio or a number in the unit.
	Value  float64   `json:"value"`
	Goal   float64   `json:"goal"`
	Unit   string    `json:"unit"`
	Below  bool      `json:"goal_is_upper_bound,omitempty"`
	Spread []float64 `json:"spread"` // the smallest and the largest value of a round
	Rounds int       `json:"rounds"`
	// Failure is why there are no numbers.
	Failure string `json:"failure,omitempty"`
}

func (r result) met() bool {
	if r.Failure != "" {
		return false
	}
	if r.Below {
		return r.Value < r.Goal
	}
	return r.Value >= r.Goal
}

// verdict is the value beside its goal, as in "2.31 ≥ 1.6".
func (r result) verdict() string {
	if r.Failure != "" {
		return "failed: " + r.Failure
	}
	sign := map[[2]bool]string{{false, true}: "≥", {false, false}: "not ≥", {true, true}: "<", {true, false}: "not <"}
	unit := ""
	if r.Unit != ratioUnit {
		unit = " " + r.Unit
	}
	return fmt.Sprintf("%.2f %s %g%s", r.Value, sign[[2]bool{r.Below, r.met()}], r.Goal, unit)
}

// missed is an error that names the works whose goals are missed or that failed, and nil where all
// are met.
func missed(results []result) error {
	var works []string
	for _, r := range results {
		if !r.met() {
			works = append(works, fmt.Sprintf("%s: %s", r.Work, r.verdict()))
		}
	}
	if works == nil {
		return nil
	}
	return fmt.Errorf("%d of %d goals missed: %s", len(works), len(results), strings.Join(works, "; "))
}

func printTable(w io.Writer, results []result) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "work\tours ms\tpeer ms\tratio\tgoal\trounds")
	for _, r := range results {
		if r.Failure != "" {
			reason, _, _ := strings.Cut(r.verdict(), "\n")
			fmt.Fprintf(table, "%s\t–\t–\t–\t%s\n", r.Work, reason)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%.2f–%.2f in %d\n", r.Work,
			orDash(r.OursMS, 3), orDash(r.PeerMS, 3), orDash(r.Ratio, 2), r.verdict(), r.Spread[0], r.Spread[1], r.Rounds)
	}
	return table.Flush()
}

func orDash(value float64, decimals int) string {
	if value == 0 {
		return "–"
	}
	return fmt.Sprintf("%.*f", decimals, value)
}

func writeJSON(path string, results []result) error {
	data, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o666)
}
