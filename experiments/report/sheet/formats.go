package sheet

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"iwda/internal/convert"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
)

// writeJSON writes the sheet as one object: experiment, title, unit, verdict, the facts, notes, and rows.
func (s Sheet) writeJSON(w io.Writer) error {
	rows := convert.Each(s.Records.Rows, func(row []Value) object { return object{s.Records.Fields, row} }) // an empty list, not null
	notes := s.Notes
	if notes == nil {
		notes = []string{}
	}
	all, err := joined(struct {
		Experiment string `json:"experiment"`
		Title      string `json:"title"`
		Unit       string `json:"unit,omitempty"`
		Verdict    string `json:"verdict,omitempty"`
	}{s.Experiment, s.Title, s.Unit, s.Verdict}, s.Facts, struct {
		Notes []string `json:"notes"`
		Rows  []object `json:"rows"`
	}{notes, rows})
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, all, "", "  "); err != nil {
		return err
	}
	_, err = w.Write(append(indented.Bytes(), '\n'))
	return err
}

// joined is the object in JSON that has the fields of all structs; nil has none.
func joined(structs ...any) ([]byte, error) {
	var fields [][]byte
	for _, s := range structs {
		if s == nil {
			continue
		}
		var b bytes.Buffer
		if err := wholefile.JSON(&b, s, ""); err != nil {
			return nil, err
		}
		fields = append(fields, bytes.TrimSuffix(bytes.TrimPrefix(b.Bytes(), []byte("{")), []byte("}\n")))
	}
	return slices.Concat([]byte("{"), bytes.Join(fields, []byte(",")), []byte("}")), nil
}

// object is a JSON object whose keys keep their order.
type object struct {
	keys   []string
	values []Value
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, key := range o.keys {
		text, err := json.Marshal(o.values[i])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, ",%q:%s", key, text)
	}
	return append(append([]byte("{"), bytes.TrimPrefix(b.Bytes(), []byte(","))...), '}'), nil
}

// writeCSV writes a header and a line a record, the experiment first.
func (s Sheet) writeCSV(w io.Writer) error {
	lines := [][]string{append([]string{"experiment"}, s.Records.Fields...)}
	for _, row := range s.Records.Rows {
		line := []string{s.Experiment}
		for _, value := range row {
			line = append(line, value.csv())
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

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
