package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// rounded returns the value to six significant decimals of a percentage, beyond
// which lies only the error of the arithmetic.
func rounded(value float64) float64 { return math.Round(1e6*value) / 1e6 }

// WriteJSON writes the sheet as one object: experiment, title, unit, notes, and rows
// with null for numbers that are not there.
func (s Sheet) WriteJSON(w io.Writer) error {
	rows := []object{} // an empty list, not null
	for _, row := range s.Records.Rows {
		rows = append(rows, object{s.Records.Fields, row})
	}
	notes := s.Notes
	if notes == nil {
		notes = []string{}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Experiment string   `json:"experiment"`
		Title      string   `json:"title"`
		Unit       string   `json:"unit,omitempty"`
		Notes      []string `json:"notes"`
		Rows       []object `json:"rows"`
	}{s.Experiment, s.Title, s.Unit, notes, rows})
}

// object is a JSON object whose keys keep their order.
type object struct {
	keys   []string
	values []any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, key := range o.keys {
		value := o.values[i]
		if number, ok := value.(float64); ok && (math.IsNaN(number) || math.IsInf(number, 0)) {
			value = nil
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, ",%q:%s", key, text)
	}
	return append(append([]byte("{"), bytes.TrimPrefix(b.Bytes(), []byte(","))...), '}'), nil
}

// WriteCSV writes a header and a line a record, the experiment first, with empty
// cells for numbers that are not there.
func (s Sheet) WriteCSV(w io.Writer) error {
	lines := [][]string{append([]string{"experiment"}, s.Records.Fields...)}
	for _, row := range s.Records.Rows {
		line := []string{s.Experiment}
		for _, value := range row {
			line = append(line, csvCell(value))
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

func csvCell(value any) string {
	number, ok := value.(float64)
	switch {
	case !ok:
		return fmt.Sprint(value)
	case math.IsNaN(number):
		return ""
	}
	return strconv.FormatFloat(number, 'f', -1, 64)
}
