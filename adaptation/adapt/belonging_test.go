package adapt

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"iwda/datasets/table"
)

// visits are rows of forty patients whose measurements are alike, in a column of that name, and of a
// class that is the patient's. With independent is true, each row has measurements of its own.
func visits(t *testing.T, name, column string, first int, word, independent, labelled bool) string {
	random := rand.New(rand.NewPCG(uint64(first), 1))
	var text strings.Builder
	fmt.Fprintf(&text, "%s,a,b,c,d,e,f", column)
	if labelled {
		fmt.Fprint(&text, ",label")
	}
	fmt.Fprintln(&text)
	for p := range 40 {
		centre, class := [6]float64{}, random.IntN(2)
		for j := range centre {
			centre[j] = random.NormFloat64()
		}
		for range 10 {
			patient := fmt.Sprint(first + p)
			if word {
				patient = "P" + patient
			}
			fmt.Fprint(&text, patient)
			for _, c := range centre {
				if independent {
					c = 2 * random.NormFloat64()
				}
				fmt.Fprintf(&text, ",%.4f", c+0.3*random.NormFloat64())
			}
			if independent {
				class = random.IntN(2)
			}
			if labelled {
				fmt.Fprintf(&text, ",c%d", class)
			}
			fmt.Fprintln(&text)
		}
	}
	return writeFile(t, t.TempDir(), name, text.String())
}

// Rows that belong together are seen, whether their column has numbers, words or ids, and the warning names
// the column and the option; independent rows have no such warning, and with the option there is none.
func TestBelonging(t *testing.T) {
	for _, c := range []struct {
		column            string
		word, independent bool
		n                 Naming
		warned            bool
	}{
		{"patient", false, false, Naming{}, true},
		{"patient", true, false, Naming{}, true},
		{"id", true, false, Naming{}, true},
		{"patient", false, false, Naming{Form: Array}, false},
		{"patient", false, true, Naming{}, false},
		{"patient", true, true, Naming{}, false},
		{"patient", false, false, Naming{Roles: table.Roles{Group: "patient"}}, false},
		{"id", true, false, Naming{Roles: table.Roles{Group: "id"}}, false},
	} {
		d, err := Look([]string{visits(t, "source.csv", c.column, 100, c.word, c.independent, true)}, visits(t, "target.csv", c.column, 200, c.word, c.independent, false), c.n)
		if err != nil {
			t.Fatal(err)
		}
		warned := false
		for _, w := range d.belong.warnings {
			warned = warned || strings.Contains(w, "--group-column "+c.column)
		}
		if warned != c.warned || warned != (d.belong.blatant != "") {
			t.Errorf("%+v: warnings %q, blatant %q", c, d.belong.warnings, d.belong.blatant)
		}
		if source, _ := d.seen(); c.n.Group != "" && !strings.Contains(source[0], "400 rows of 6 values in 40 groups") {
			t.Errorf("%q", source)
		}
	}
}

// A measurement on which the class depends groups no rows, as the most similar rows of other values have the next
// ones; and words that both domains have are at most worth a warning.
func TestMeasurementsAreNoGroups(t *testing.T) {
	for _, word := range []bool{false, true} {
		random := rand.New(rand.NewPCG(1, 1))
		rows := func(n int, labelled bool) string {
			text := "m,a,b,label\n"
			for range n {
				m := random.IntN(16)
				row := fmt.Sprintf("%d,%.3f,%.3f", m, float64(m)+0.4*random.NormFloat64(), random.NormFloat64())
				if word {
					row = "m" + row
				}
				if labelled {
					class := m / 2 % 2
					if random.IntN(10) == 0 {
						class = 1 - class
					}
					row += fmt.Sprintf(",c%d", class)
				} else {
					row += ","
				}
				text += row + "\n"
			}
			return text
		}
		d, err := Look([]string{writeFile(t, t.TempDir(), "source.csv", rows(600, true))}, writeFile(t, t.TempDir(), "target.csv", rows(300, false)), Naming{})
		if err != nil {
			t.Fatal(err)
		}
		if warned := strings.Contains(strings.Join(d.belong.warnings, " "), "--group-column m"); d.belong.blatant != "" || warned != word {
			t.Errorf("words %v: %q, blatant %q", word, d.belong.warnings, d.belong.blatant)
		}
	}
}

// Exact copies are seen among values that differ, and not in a table of few words.
func TestCopies(t *testing.T) {
	for _, rounded := range []bool{false, true} {
		random := rand.New(rand.NewPCG(1, 1))
		source, target := "a,b,label\n", "a,b\n"
		for i := range 300 {
			x, y := random.NormFloat64(), random.NormFloat64()
			if rounded {
				x, y = float64(int(x)), float64(int(y))
			}
			row := fmt.Sprintf("%v,%v", x, y)
			target += row + "\n"
			for range 1 + (i+1)%3/2 {
				source += fmt.Sprintf("%s,c%d\n", row, i%2)
			}
		}
		d, err := Look([]string{writeFile(t, t.TempDir(), "source.csv", source)}, writeFile(t, t.TempDir(), "target.csv", target), Naming{})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(d.belong.warnings, " "), "100 of 400 rows of the source (25%) have exactly the values of another row"); said == rounded || rounded == (d.belong.blatant != "") {
			t.Errorf("rounded %v: %q, blatant %q", rounded, d.belong.warnings, d.belong.blatant)
		}
	}
}

// A target with a column that the source never has missing, or with values far from the source's, has no
// floor, and the column is named.
func TestOutside(t *testing.T) {
	source := "a,b,label\n"
	for i := range 60 {
		source += fmt.Sprintf("%d,%.2f,c%d\n", i%7, float64(i)/60, i%2)
	}
	for b, want := range map[string]string{"0.5": "", "": `"b is missing" (100% of the rows)`, "9": `"b" (100% of the rows)`} {
		target := "a,b\n"
		for i := range 40 {
			target += fmt.Sprintf("%d,%s\n", i%7, b)
		}
		d, err := Look([]string{writeFile(t, t.TempDir(), "source.csv", source)}, writeFile(t, t.TempDir(), "target.csv", target), Naming{})
		if err != nil {
			t.Fatal(err)
		}
		if said := d.belong.outside; (said == "") != (want == "") || !strings.Contains(said, "\"b") && want != "" {
			t.Errorf("b = %q: %q, want %s", b, said, want)
		}
	}
}
