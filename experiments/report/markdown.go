package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/rivo/uniseg"
)

// none stands in a cell for a number that is not there.
const none = "–"

// lineWidth is where the text below a table wraps.
const lineWidth = 80

// WriteMarkdown writes the table for terminals and for pages alike: a section a
// variant, a line a task and method, columns aligned.
func (t Table) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", t.Title)
	for _, block := range t.Blocks {
		fmt.Fprintf(&b, "\n## %s\n\n", block.Variant)
		writeGrid(&b, t.lines(block))
	}
	if len(t.Blocks) > 0 {
		b.WriteString("\n" + wrap(t.legend()))
	}
	for i, note := range t.Notes {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("- " + strings.ReplaceAll(strings.TrimSuffix(wrap(note), "\n"), "\n", "\n  ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines returns the header and the rows of a block as texts.
func (t Table) lines(block Block) [][]string {
	header := []string{"task", "method", "best", "last", "wins", "seeds"}
	if t.InPaper {
		header = []string{"task", "method", "best", "last", "paper", "Δ", "wins (paper)", "seeds"}
	}
	lines := [][]string{header}
	for _, group := range block.Groups {
		task := group.Task
		for _, row := range group.Rows {
			line := []string{task, row.Method, scoreText(row.Best), scoreText(row.Last)}
			wins := winsText(row)
			if t.InPaper {
				line = append(line, number("%.2f", row.Paper), number("%+.2f", row.Difference()))
				if !math.IsNaN(row.PaperWins) {
					wins = fmt.Sprintf("%s (%.0f%%)", wins, row.PaperWins)
				}
			}
			lines = append(lines, append(line, wins, fmt.Sprintf("%d/%d", row.Seeds, row.Planned)))
			task = "" // once a group
		}
	}
	return lines
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

func scoreText(s Score) string {
	if math.IsNaN(s.Deviation) {
		return number("%.2f", s.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", s.Mean, s.Deviation)
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

func number(format string, value float64) string {
	if math.IsNaN(value) {
		return none
	}
	return fmt.Sprintf(format, value)
}

// writeGrid writes a Markdown table whose first line is the header. The first two
// columns hold names and align left, the others right.
func writeGrid(b *strings.Builder, lines [][]string) {
	const names = 2
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	for i, line := range lines {
		for j, cell := range line {
			padding := strings.Repeat(" ", widths[j]-uniseg.StringWidth(cell))
			if j < names {
				cell += padding
			} else {
				cell = padding + cell
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for j, width := range widths {
			if j < names {
				b.WriteString("| " + strings.Repeat("-", width) + " ")
			} else {
				b.WriteString("| " + strings.Repeat("-", width-1) + ": ")
			}
		}
		b.WriteString("|\n")
	}
}

// wrap breaks text between words into lines of at most lineWidth.
func wrap(text string) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		width := uniseg.StringWidth(word)
		switch {
		case column == 0:
		case column+1+width > lineWidth:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += width
	}
	return b.String() + "\n"
}
