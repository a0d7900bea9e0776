package table

import (
	"fmt"
	"strings"
	"testing"
)

// Numbers of one length with leading zeros, or that all begin with 0, are words; others stay numbers.
func TestCodes(t *testing.T) {
	for cells, words := range map[string]bool{
		"00501 10001 94105":           true,  // zip codes
		"030 0221 089":                true,  // prefixes
		"008.45 401.9 250.00":         true,  // diagnoses
		"01 12 07":                    true,  // months
		"1 2 10":                      false, // whole numbers
		"0 1 0":                       false,
		"0.5 0.25 0.125":              false,
		"00.50 12.25 03.75":           false, // numbers of a fixed width
		"01 2 10":                     false, // padded by accident
		"100 200 300":                 false,
		"-01 002 003":                 false,
		"1e5 002 003":                 false,
		"00501 <missing> 10001 94105": true,
	} {
		text := "code,v,label\n"
		for i := range 40 {
			each := strings.Fields(cells)
			cell := strings.ReplaceAll(each[i%len(each)], "<missing>", "")
			text += fmt.Sprintf("%s,%d,%s\n", cell, i, []string{"a", "b"}[i%2])
		}
		path := write(t, "rows.csv", text)
		l := learnt(t, path)
		if got := l.Encoding[0].ofWords(); got != words {
			t.Errorf("%s: words %v, want %v", cells, got, words)
		}
		if strings.Contains(cells, "missing") {
			continue // not read without an encoding
		}
		_, err := opened(t, file(path, Options{Kind: Features, Centre: true})).Load()
		if (err != nil) != words {
			t.Errorf("%s without an encoding: %v", cells, err)
		}
	}
}

// What stands beside an array of values, or a list, is named, as is the name that a list of values must have.
func TestBesideValues(t *testing.T) {
	type row struct {
		ID       string    `parquet:"id"`
		Features []float32 `parquet:"features,list"`
		Age      float64   `parquet:"age"`
		Place    string    `parquet:"place"`
	}
	rows := []row{{"a", []float32{1, 2}, 3, "x"}, {"b", []float32{4, 5}, 6, "y"}}
	list := write(t, "rows.parquet", parquetOf(t, rows))
	if got := fmt.Sprint(opened(t, file(list, Options{Kind: Features})).Beside()); got != "[age place]" {
		t.Errorf("beside the list: %v", got)
	}
	if got := opened(t, file(list, Options{Kind: Features, Roles: Roles{Ignore: []string{"age", "place"}}})).Beside(); got != nil {
		t.Errorf("ignored, but named: %v", got)
	}
	type other struct {
		Embedding []float32 `parquet:"embedding,list"`
	}
	refused(t, write(t, "other.parquet", parquetOf(t, []other{{[]float32{1}}})), Options{Kind: Features}, "must have the name features, probabilities or logits")
}

// The decimal sign is the one that is given, or that of the reference, or follows from a column that has it in all cells.
func TestDecimalSign(t *testing.T) {
	many := "a;label\n" + strings.Repeat("5,047;x\n12,163;y\n", 6)
	for name, test := range map[string]struct {
		text    string
		options Options
		want    string
	}{
		"presumed":      {many, Options{}, "5.047"},
		"as thousands":  {many + "999;x\n", Options{}, "--decimal"},
		"comma given":   {"a;label\n3,512;x\n", Options{Roles: Roles{Decimal: ","}}, "3.512"},
		"point given":   {"a;label\n3.512;x\n", Options{Roles: Roles{Decimal: "."}}, "3.512"},
		"other given":   {"a;label\n3.512;x\n", Options{Roles: Roles{Decimal: ","}}, "does not fit"},
		"other comma":   {"a;label\n3,512;x\n", Options{Roles: Roles{Decimal: "."}}, "does not fit"},
		"of the model":  {"a;label\n3,512;x\n", Options{Reference: Reference{Name: "model", Width: 1, Decimal: ","}}, "3.512"},
		"unlike model":  {"a;label\n3,512;x\n", Options{Reference: Reference{Name: "model", Width: 1, Decimal: "."}}, "--decimal"},
		"no such sign":  {"a;label\n3,512;x\n", Options{Roles: Roles{Decimal: "'"}}, "want a point or a comma"},
		"quoted, comma": {"a,label\n\"3,512\",x\n", Options{Roles: Roles{Decimal: ","}}, "3.512"},
	} {
		test.options.Kind = Features
		path, got := write(t, "rows.csv", test.text), ""
		table, err := Open(path, test.options)
		if err == nil {
			for b, wrong := range table.Batches(100) {
				if err = wrong; err == nil {
					got = fmt.Sprint(b.Values[0])
				}
			}
			table.Close()
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
