package sheet

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
)

// writeJSON writes the sheet as one object: experiment, title, unit, verdict, notes, and rows.
func (s Sheet) writeJSON(w io.Writer) error {
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
		Verdict    string   `json:"verdict,omitempty"`
		Notes      []string `json:"notes"`
		Rows       []object `json:"rows"`
	}{s.Experiment, s.Title, s.Unit, s.Verdict, notes, rows})
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
