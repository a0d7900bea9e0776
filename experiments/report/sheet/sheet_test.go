package sheet

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"iwda/internal/must"
)

// Whatever a class is called, it stays in its cell, and columns stay aligned.
func TestCellsOfMarkdown(t *testing.T) {
	columns := []Column[string]{
		{Head: "a|b", Key: true, Value: func(name string) Value { return Word(name) }},
		{Head: "n", Value: func(string) Value { return Count(1) }},
	}
	var text bytes.Buffer
	s := Sheet{Title: "t", Sections: []Section{NewSection("s", columns, []string{"x|yz", "two\nlines", `a\|b`, `a\b`, "c\r\nd", "e\x1b\t"})}, Notes: []string{"\x1b[2J"}}
	must.Do(t, s.Write(&text, Markdown))
	want := `| a\|b       |  n |
| ---------- | -: |
| x\|yz      |  1 |
| two\nlines |  1 |
| a\\\|b     |  1 |
| a\b        |  1 |
| c\x0d\nd   |  1 |
| e\x1b\t    |  1 |

- \x1b[2J
`
	if !strings.HasSuffix(text.String(), want) {
		t.Errorf("no\n%s in\n%s", want, &text)
	}
}

// TestValues: every form of a value, those that are not there among them, in every
// format.
func TestValues(t *testing.T) {
	nan := math.NaN()
	columns := []Column[Value]{
		{Name: "name", Head: "head", Key: true, Value: func(Value) Value { return Word("x") }},
		{Name: "value", Head: "value", Value: func(v Value) Value { return v }, Format: Printf("%+.1f", " of %.0f", " (%.0f%%)")},
		{Name: "hidden", Value: func(Value) Value { return Count(3) }},
	}
	for _, test := range []struct {
		value           Value
		text, csv, json string
	}{
		{Value{}, "–", "", "null"},
		{Number(nan), "–", "", "null"},
		{Number(nan, 2, nan), "– of 2", "", "null"},
		{Number(1234.5678901, nan, 7), "+1234.6 (7%)", "1234.5678901", "1234.5678901"},
		{Percent(0.1234567891), "+0.1", "0.123457", "0.123457"},
		{Number(math.Inf(1)), "+Inf", "+Inf", "null"},
		{Count(2), "2", "2", "2"},
		{Word("a_b"), "a_b", "a_b", `"a_b"`},
		{Number(1.25e-164), "+0.0", "1.25e-164", "1.25e-164"},
		{Number(0), "+0.0", "0", "0"},
	} {
		s := Sheet{
			Experiment: "e", Title: "t", Records: NewRecords(columns, []Value{test.value}),
			Sections: []Section{NewSection("s", columns, []Value{test.value})},
		}
		for format, want := range map[string]string{
			CSV:  "experiment,name,value,hidden\ne,x," + test.csv + ",3\n",
			JSON: "\"name\": \"x\",\n      \"value\": " + test.json + ",\n      \"hidden\": 3\n",
		} {
			var text bytes.Buffer
			if err := s.Write(&text, format); err != nil || !strings.Contains(text.String(), want) {
				t.Errorf("%+v as %s: error %v, no\n%s in\n%s", test.value, format, err, want, &text)
			}
		}
		cells := s.Sections[0].Rows[0]
		if cells[1].Text() != test.text {
			t.Errorf("%+v: %q, want %q", test.value, cells[1].Text(), test.text)
		}
	}
	if err := (Sheet{}).Write(io.Discard, "xls"); err == nil || !strings.Contains(err.Error(), `"xls" of a table: choose from md, csv, json`) {
		t.Errorf("an unknown format: %v", err)
	}
}

// JSON keeps the order of what it says, has null for what is not there, and leaves < as it is.
func TestJSON(t *testing.T) {
	type facts struct {
		Z       Value          `json:"z"`
		A       map[string]any `json:"a"`
		Nothing *Value         `json:"nothing"`
	}
	s := Sheet{Experiment: "e", Title: "a < b", Verdict: "c & d", Facts: facts{Z: Number(math.Inf(1)), A: map[string]any{"of <": Count(1), "p": Number(0.25)}}}
	var text bytes.Buffer
	must.Do(t, s.Write(&text, JSON))
	want := `{
  "experiment": "e",
  "title": "a < b",
  "verdict": "c & d",
  "z": null,
  "a": {
    "of <": 1,
    "p": 0.25
  },
  "nothing": null,
  "notes": [],
  "rows": []
}
`
	if text.String() != want {
		t.Errorf("got %s, want %s", &text, want)
	}
}

// TestKeys: all keys but the last are blank where the row above has the same ones.
func TestKeys(t *testing.T) {
	type row = [3]string
	var columns []Column[row]
	for i, head := range []string{"a", "b", "c"} {
		columns = append(columns, Column[row]{Head: head, Key: true, Value: func(r row) Value { return Word(r[i]) }})
	}
	var text bytes.Buffer
	s := Sheet{Title: "t", Sections: []Section{NewSection("s", columns, []row{{"1", "1", "1"}, {"1", "1", "1"}, {"1", "2", "1"}, {"2", "2", "1"}})}}
	must.Do(t, s.Write(&text, Markdown))
	want := "| a  | b  | c  |\n| -- | -- | -- |\n| 1  | 1  | 1  |\n|    |    | 1  |\n|    | 2  | 1  |\n| 2  | 2  | 1  |\n"
	if !strings.HasSuffix(text.String(), want) {
		t.Errorf("no\n%s in\n%s", want, &text)
	}
}
