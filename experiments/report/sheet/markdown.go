package sheet

import (
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"

	"iwda/internal/printable"
)

// lineWidth is where the text below a table wraps.
const lineWidth = 80

// writeMarkdown writes the sheet for terminals and for pages alike, columns aligned.
func (s Sheet) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", s.Title)
	for _, section := range s.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n", section.Title)
		writeGrid(&b, section)
	}
	if len(s.Sections) > 0 && s.Legend != "" {
		b.WriteString("\n" + printable.Wrap(s.Legend, lineWidth, "") + "\n")
	}
	for i, note := range s.Notes {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("- " + strings.ReplaceAll(printable.Wrap(note, lineWidth, ""), "\n", "\n  ") + "\n")
	}
	_, err := io.WriteString(w, printable.Text(b.String()))
	return err
}

// writeGrid writes a Markdown table. Keys align left, the others right.
func writeGrid(b *strings.Builder, section Section) {
	lines := section.lines()
	widths := make([]int, len(section.Heads))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], uniseg.StringWidth(cell), 2)
		}
	}
	for i, line := range lines {
		for j, cell := range line {
			padding := strings.Repeat(" ", widths[j]-uniseg.StringWidth(cell))
			if section.Heads[j].Key {
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
			if section.Heads[j].Key {
				b.WriteString("| " + strings.Repeat("-", width) + " ")
			} else {
				b.WriteString("| " + strings.Repeat("-", width-1) + ": ")
			}
		}
		b.WriteString("|\n")
	}
}

// inMarkdown is the cell on one line, in which no bar ends it and nothing steers a terminal.
func (c Cell) inMarkdown() string {
	return markdownEscapes.Replace(printable.Line(c.Text()))
}

var markdownEscapes = strings.NewReplacer(`\|`, `\\\|`, `|`, `\|`)
