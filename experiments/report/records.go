package report

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"
)

// record is a row of a table with its place, for programs. Accuracies and shares
// are in percent.
type record struct {
	Variant       string   `json:"variant"`
	Task          string   `json:"task"`
	Method        string   `json:"method"`
	Seeds         int      `json:"seeds"`
	Planned       int      `json:"planned"`
	Best          *float64 `json:"best"`
	BestDeviation *float64 `json:"best_deviation"`
	BestWins      *float64 `json:"best_wins"`
	Last          *float64 `json:"last"`
	LastDeviation *float64 `json:"last_deviation"`
	LastWins      *float64 `json:"last_wins"`
	Pairs         int      `json:"pairs"`
	Paper         *float64 `json:"paper"`
	PaperWins     *float64 `json:"paper_wins"`
	Difference    *float64 `json:"difference"`
}

func (t Table) records() []record {
	records := []record{} // an empty list in JSON, not null
	for _, block := range t.Blocks {
		for _, group := range block.Groups {
			for _, r := range group.Rows {
				records = append(records, record{
					Variant: block.Variant, Task: group.Task, Method: r.Method,
					Seeds: r.Seeds, Planned: r.Planned, Pairs: r.Pairs,
					Best: percent(r.Best.Mean), BestDeviation: percent(r.Best.Deviation), BestWins: percent(r.Best.Wins),
					Last: percent(r.Last.Mean), LastDeviation: percent(r.Last.Deviation), LastWins: percent(r.Last.Wins),
					Paper: percent(r.Paper), PaperWins: percent(r.PaperWins), Difference: percent(r.Difference()),
				})
			}
		}
	}
	return records
}

// percent returns the value to six decimals, beyond which lies only the error of
// the arithmetic, and nil for NaN.
func percent(value float64) *float64 {
	if math.IsNaN(value) {
		return nil
	}
	value = math.Round(1e6*value) / 1e6
	return &value
}

// WriteJSON writes the table as one object: title, unit, notes, and rows with null
// for numbers that are not there.
func (t Table) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	notes := t.Notes
	if notes == nil {
		notes = []string{}
	}
	return encoder.Encode(struct {
		Experiment string   `json:"experiment"`
		Title      string   `json:"title"`
		Unit       string   `json:"unit"`
		Notes      []string `json:"notes"`
		Rows       []record `json:"rows"`
	}{t.Experiment, t.Title, "percent", notes, t.records()})
}

// WriteCSV writes a header and a line for each row of the table, with empty cells
// for numbers that are not there. Accuracies and shares are in percent.
func (t Table) WriteCSV(w io.Writer) error {
	lines := [][]string{{
		"experiment", "variant", "task", "method", "seeds", "planned", "best", "best_deviation", "best_wins",
		"last", "last_deviation", "last_wins", "pairs", "paper", "paper_wins", "difference",
	}}
	cell := func(value *float64) string {
		if value == nil {
			return ""
		}
		return strconv.FormatFloat(*value, 'f', -1, 64)
	}
	for _, r := range t.records() {
		lines = append(lines, []string{
			t.Experiment, r.Variant, r.Task, r.Method, strconv.Itoa(r.Seeds), strconv.Itoa(r.Planned),
			cell(r.Best), cell(r.BestDeviation), cell(r.BestWins),
			cell(r.Last), cell(r.LastDeviation), cell(r.LastWins), strconv.Itoa(r.Pairs),
			cell(r.Paper), cell(r.PaperWins), cell(r.Difference),
		})
	}
	return csv.NewWriter(w).WriteAll(lines)
}
