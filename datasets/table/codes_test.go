package table

import (
	"fmt"
	"strings"
	"testing"

	"iwda/internal/must"
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

// Where the cells of a file settle the decimal sign, and where somebody gave it, the few that cannot have it end nothing:
// with a comma they are missing, and told. With a point they can mean only one thing.
func TestOtherDecimalSigns(t *testing.T) {
	points := "a,b\n" + strings.Repeat("68.11,x\n70,y\n", 20)
	commas := strings.NewReplacer(",", ";", ".", ",").Replace(points)
	mixed, many := points+"\"5,4\",x\n\"7,283,465\",y\n", "a,b\n1,x\n\"5,4\",y\n\"5,8\",x\n"
	const missing = ` "5,4" is not a number and counts as missing`
	for name, test := range map[string]struct {
		source, target, sign string
		last                 [2]float32 // of the source; of the target
		said, presumed       string     // of the column, in part; of the target
	}{
		"in the source":     {mixed, points, "", [2]float32{7283465, 70}, missing, ""},
		"in the target":     {points, mixed, "", [2]float32{70, 7283465}, missing, ""},
		"in both":           {mixed, mixed, ".", [2]float32{7283465, 7283465}, missing, ""},
		"of commas":         {commas, commas + "5.4;x\n", "", [2]float32{70, 5.4}, "", "5.4 and others with a point are read, though most numbers have a comma"},
		"a comma given":     {commas, commas + "5.4;x\n3.512;x\n", ",", [2]float32{70, 3512}, ` "5.4" is not a number and counts as missing`, "3.512 and others " + asThousands},
		"too many":          {points, many, ".", [2]float32{}, ` "5,4" is not a number; 2 of 3 cells are not, but in source.csv the column has numbers`, ""},
		"all of the source": {many, points, ".", [2]float32{}, `2 of its numbers, as "5,4", do not fit the decimal sign that was given, so that all are taken for words`, ""},
	} {
		source, target := write(t, "source.csv", test.source), write(t, "target.csv", test.target)
		roles := Roles{Decimal: test.sign}
		l, err := Learn([]File{{source, roles}}, File{target, roles})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		said := strings.Join(append(l.Columns[0].Strays, l.Columns[0].LeftOut), "")
		if said = strings.ReplaceAll(said, source, "source.csv"); !strings.Contains(said, test.said) || test.said == "" && said != "" {
			t.Errorf("%s: %s, want %s", name, said, test.said)
		}
		if test.last == [2]float32{} {
			continue
		}
		for i, path := range []string{source, target} {
			table := opened(t, file(path, Options{Kind: Features, IgnoreLabels: true, Roles: roles, Reference: Reference{Encoding: l.Encoding}}))
			rows := must.Have(table.Load())(t)
			row := make([]float32, rows.Shape()[0])
			if rows.CopyRow(row, rows.Len()-1); row[0] != test.last[i] {
				t.Errorf("%s: %v in %s, want %v", name, row[0], path, test.last[i])
			}
			if _, presumed := rows.Decimal(); i == 1 && presumed != test.presumed {
				t.Errorf("%s: %q, want %q", name, presumed, test.presumed)
			}
		}
	}
	// Where a column has the one and another the other, no cell says which is meant.
	must.Refuse(Learn([]File{{Path: write(t, "two.csv", "a;b\n"+strings.Repeat("68.11;70,5\n", 20))}}))(t, "which of them is before fractions?")
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
		"other given":   {"a;label\n3.5;x\n", Options{Roles: Roles{Decimal: ","}}, "does not fit"},
		"other comma":   {"a;label\n3,5;x\n", Options{Roles: Roles{Decimal: "."}}, "does not fit"},
		"thousands":     {"a;label\n3.512;x\n", Options{Roles: Roles{Decimal: ","}}, "3512"},
		"with commas":   {"a;label\n3,512;x\n", Options{Roles: Roles{Decimal: "."}}, "3512"},
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
