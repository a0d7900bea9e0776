package report

import (
	"fmt"
	"math"
)

// Sheet returns the table ready to be written: a section a variant, a line a task
// and method. Its LaTeX is laid out as the paper's.
func (t Table) Sheet() Sheet {
	s := Sheet{
		Experiment: t.Experiment, Title: t.Title, Unit: "percent",
		Legend: t.legend(), Notes: t.Notes, Records: t.records(), Tabulars: t.tabulars(),
	}
	for _, block := range t.Blocks {
		s.Sections = append(s.Sections, t.section(block))
	}
	return s
}

func (t Table) section(block Block) Section {
	s := Section{Title: block.Variant, Names: 2, Header: []string{"task", "method", "best", "last", "wins", "seeds"}}
	if t.layout == byDataset {
		s.Header[0] = "data"
	}
	if t.InPaper {
		s.Header = []string{s.Header[0], "method", "best", "last", "paper", "Δ", "wins (paper)", "seeds"}
	}
	for _, group := range block.Groups {
		for _, row := range group.Rows {
			line := []Cell{word(group.Task), word(row.Method), scoreCell(row.Best), scoreCell(row.Last)}
			wins := Cell{winsText(row), row.Best.Wins}
			if t.InPaper {
				line = append(line, figure("%.2f", row.Paper), figure("%+.2f", row.Difference()))
				if !math.IsNaN(row.PaperWins) {
					wins.Text = fmt.Sprintf("%s (%.0f%%)", wins.Text, row.PaperWins)
				}
			}
			seeds := Cell{fmt.Sprintf("%d/%d", row.Seeds, row.Planned), float64(row.Seeds)}
			s.Rows = append(s.Rows, append(line, wins, seeds))
		}
	}
	return s
}

// legend explains the columns.
func (t Table) legend() string {
	text := "Accuracy on the target's test set in percent, mean ± standard deviation over seeds. " +
		"best: the highest of all epochs, chosen on target labels; last: the last epoch, which needs none. "
	if t.InPaper {
		text += "paper: the paper's value, a best epoch too; Δ: best less paper. "
	}
	text += "wins: share of seeds in which the best epoch is at least as good as that of the method without weights, " +
		"on as many seeds as there are pairs"
	if t.InPaper {
		text += ", and the paper's share"
	}
	return text + ". seeds: finished of planned."
}

func scoreCell(s Score) Cell {
	if math.IsNaN(s.Deviation) {
		return figure("%.2f", s.Mean)
	}
	return Cell{fmt.Sprintf("%.2f ± %.2f", s.Mean, s.Deviation), s.Mean}
}

// winsText is the share of pairs won, and their number where it is not that of the
// planned seeds.
func winsText(row Row) string {
	text := number("%.0f%%", row.Best.Wins)
	if row.Pairs > 0 && row.Pairs < row.Planned {
		text += fmt.Sprintf(" of %d", row.Pairs)
	}
	return text
}

func (t Table) records() Records {
	r := Records{Fields: []string{
		"variant", "task", "method", "seeds", "planned", "best", "best_deviation", "best_wins",
		"last", "last_deviation", "last_wins", "pairs", "paper", "paper_wins", "difference",
	}}
	for _, block := range t.Blocks {
		for _, group := range block.Groups {
			for _, row := range group.Rows {
				r.Rows = append(r.Rows, []any{
					block.Variant, group.Task, row.Method, row.Seeds, row.Planned,
					rounded(row.Best.Mean), rounded(row.Best.Deviation), rounded(row.Best.Wins),
					rounded(row.Last.Mean), rounded(row.Last.Deviation), rounded(row.Last.Wins), row.Pairs,
					rounded(row.Paper), rounded(row.PaperWins), rounded(row.Difference()),
				})
			}
		}
	}
	return r
}
