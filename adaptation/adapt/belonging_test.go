package adapt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"iwda/adaptation/adapt/names"
	"iwda/datasets/table"
	"iwda/internal/must"
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

// Rows that belong together are seen, whether their column has numbers, words or ids, and are groups as with the option,
// unless somebody says that no rows belong together. Numbers whose rows are not alike make no groups, as they may be
// measurements of another range, nor do columns of arrays.
func TestBelonging(t *testing.T) {
	for _, c := range []struct {
		column            string
		word, independent bool
		n                 Naming
		grouped           bool
	}{
		{"patient", false, false, Naming{}, true},
		{"patient", true, false, Naming{}, true},
		{"id", true, false, Naming{}, true},
		{"patient", false, false, Naming{Form: Array}, false},
		{"patient", false, true, Naming{}, false},
		{"patient", true, true, Naming{}, true}, // other words
		{"patient", false, false, Naming{Roles: table.Roles{Group: "patient"}}, true},
		{"id", true, false, Naming{Roles: table.Roles{Group: "id"}}, true},
		{"patient", true, false, Naming{Roles: table.Roles{Independent: true}}, false},
	} {
		d := must.Have(Look([]string{visits(t, "source.csv", c.column, 100, c.word, c.independent, true)}, visits(t, "target.csv", c.column, 200, c.word, c.independent, false), c.n))(t)
		if d.Source.Group == c.column != c.grouped || d.Target.Group != d.Source.Group || d.belong.warnings != nil || d.belong.blatant != "" {
			t.Errorf("%+v: groups by %q and %q, warnings %q, blatant %q", c, d.Source.Group, d.Target.Group, d.belong.warnings, d.belong.blatant)
		}
		source, _ := d.seen()
		choice, _ := d.together()
		if strings.Contains(source[0], "400 rows of 6 values in 40 groups") != c.grouped || strings.Contains(choice, "--group-column ''") != (c.grouped && c.n.Group == "") {
			t.Errorf("%+v: %q, %q", c, source, choice)
		}
	}
}

// Of columns that tell units the one with the fewest groups does, as days that are a patient's own are within patients,
// even if a patient is in both domains.
func TestUnitsAreTheWhole(t *testing.T) {
	var files [2]string
	random := rand.New(rand.NewPCG(3, 3))
	for domain, name := range []string{"source.csv", "target.csv"} {
		text := "day,patient,a,label\n"
		for p := range 40 {
			patient, centre := fmt.Sprintf("P%d", 39*domain+p), 10*random.NormFloat64()
			for row := range 12 {
				text += fmt.Sprintf("%s on %d,%s,%.3f,c%d\n", patient, row/4+10*domain, patient, centre+random.NormFloat64(), row%2)
			}
		}
		files[domain] = writeFile(t, t.TempDir(), name, text)
	}
	if d := must.Have(Look(files[:1], files[1], Naming{}))(t); d.Source.Group != "patient" {
		t.Errorf("grouped by %q", d.Source.Group)
	}
}

// Whole numbers that lie among those of the other domain, and are others, are names, even if no other column tells so. But
// numbers that one domain has rounded are not, nor are fractions.
func TestWholeNumbersAreNames(t *testing.T) {
	for number, grouped := range map[string]bool{"%d": true, "%d0": true, "%d.5": true, "%d.25": false} {
		random := rand.New(rand.NewPCG(5, 5))
		patients := random.Perm(80)
		var files [2]string
		for domain, name := range []string{"source.csv", "target.csv"} {
			text := "patient,a,b,label\n"
			for _, patient := range patients[40*domain : 40*domain+40] {
				of := fmt.Sprintf(number, patient)
				if domain == 1 && strings.HasSuffix(number, "25") {
					of = fmt.Sprintf("%d.75", patient)
				}
				for row := range 10 {
					text += fmt.Sprintf("%s,%.3f,%.3f,c%d\n", of, random.NormFloat64(), random.NormFloat64(), row%2)
				}
			}
			files[domain] = writeFile(t, t.TempDir(), name, text)
		}
		if d := must.Have(Look(files[:1], files[1], Naming{}))(t); slices.Equal(d.Source.GroupBy, []string{"patient"}) != grouped {
			t.Errorf("%s: grouped by %q", number, d.Source.GroupBy)
		}
	}
	for _, step := range []float64{5, 25.86} { // the second is in another unit, rounded to whole numbers again
		rounded := [2]string{}
		random := rand.New(rand.NewPCG(6, 6))
		for domain, name := range []string{"source.csv", "target.csv"} {
			text := "size,a,label\n"
			for row := range 400 {
				size := math.Round(step * float64(random.IntN(20)))
				if domain == 1 {
					size += float64(1 + random.IntN(int(step)-1))
				}
				text += fmt.Sprintf("%v,%.3f,c%d\n", size, random.NormFloat64(), row%2)
			}
			rounded[domain] = writeFile(t, t.TempDir(), name, text)
		}
		if d := must.Have(Look(rounded[:1], rounded[1], Naming{}))(t); d.Source.GroupBy != nil || d.Source.Group != "" {
			t.Errorf("in steps of %v: grouped by %q, %q", step, d.Source.GroupBy, d.Source.Group)
		}
	}
}

// A class whose rows are in too few groups leaves rows on their own, with the warning and no interval.
func TestTooFewGroups(t *testing.T) {
	path := visits(t, "source.csv", "patient", 100, true, false, true)
	text := must.Have(os.ReadFile(path))(t)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, line := range lines[1:] {
		lines[1+i] = fmt.Sprintf("%s,c%t", line[:strings.LastIndex(line, ",")], i < 20) // two patients
	}
	writeFile(t, filepath.Dir(path), "source.csv", strings.Join(lines, "\n"))
	d := must.Have(Look([]string{path}, visits(t, "target.csv", "patient", 200, true, false, false), Naming{}))(t)
	if warned := strings.Contains(strings.Join(d.belong.warnings, " "), "--group-column patient"); !warned || d.Source.Group != "" || d.belong.blatant == "" {
		t.Errorf("groups by %q, warnings %q, blatant %q", d.Source.Group, d.belong.warnings, d.belong.blatant)
	}
}

// persons are rows of persons whom no column names, each of so many rows, whose age, height and weight are the person's.
func persons(t *testing.T, name string, seed uint64, rows func(random *rand.Rand) int) string {
	random := rand.New(rand.NewPCG(seed, 2))
	text := "age,size,sex,mood,label\n"
	for range 100 {
		age, size, sex, mood := 20+random.IntN(40), 150+random.IntN(40), random.IntN(2), random.Float64()
		for range rows(random) {
			text += fmt.Sprintf("%d,%d,s%d,%d,c%t\n", age, size, sex, random.IntN(9), random.Float64() < mood)
		}
	}
	return writeFile(t, t.TempDir(), name, text)
}

// Rows of persons whom no column names are groups by what is the person's, however many each has, and an experiment that
// goes on keeps them, and has none if it has none. Persons of whom most have one row have none.
func TestRowsOfPersons(t *testing.T) {
	for i, c := range []struct {
		rows func(random *rand.Rand) int
		by   []string
	}{
		{func(*rand.Rand) int { return 3 }, []string{"age", "size"}},
		{func(random *rand.Rand) int { return 2 - random.IntN(4)/3 }, []string{"age", "size"}},
		{func(random *rand.Rand) int { return 1 + random.IntN(5)/3 }, nil},
		{func(random *rand.Rand) int { return int(distuv.Poisson{Lambda: 3, Src: random}.Rand()) }, []string{"age", "size"}},
	} {
		o := Options{Folder: t.TempDir(), LabelRows: -1}
		files := []string{persons(t, "source.csv", uint64(2*i), c.rows), persons(t, "target.csv", uint64(2*i+1), c.rows)}
		p := must.Have(NewPlan(files[:1], files[1], o))(t)
		if !slices.Equal(p.Data.Source.GroupBy, c.by) || !slices.Equal(p.Data.Target.GroupBy, c.by) || (p.Data.Source.groups != nil) != (c.by != nil) {
			t.Errorf("%d: groups by %q", i, p.Data.Source.GroupBy)
		}
		for _, text := range []string{string(p.Text), strings.ReplaceAll(string(p.Text), "group_by: [age, size]", "")} {
			writeFile(t, o.Folder, names.Experiment, text)
			again := must.Have(NewPlan(files[:1], files[1], o))(t)
			if is := strings.Contains(text, "group_by"); is != (again.Data.Source.GroupBy != nil) || is && again.Runs[0].Config.Hash() != p.Runs[0].Config.Hash() {
				t.Errorf("%d: %s\ngroups by %q", i, text, again.Data.Source.GroupBy)
			}
		}
	}
}

// Independent rows make no groups, however few values they have, even if class shares changed, rows of the target
// have larger values, or they are a design, of which each domain has every other combination.
func TestIndependentRowsAreNoGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	for draw := range 300 {
		levels, n := [4]int{}, 100+random.IntN(300)
		for j := range levels {
			levels[j] = 2 + int(math.Exp(8*random.Float64()))
		}
		if draw == 0 {
			levels, n = [4]int{5, 5, 4, 4}, 200
		}
		var files [2]string
		for domain := range files {
			text := "a,b,c,d,label\n"
			for row := range n {
				class, at := random.IntN(4), 2*row+domain
				if draw%2*domain == 1 {
					class = max(class, random.IntN(4))
				}
				for j, of := range levels {
					value := min(random.IntN(of)+class*of/9+draw/2%2*domain*of/3, of-1)
					if draw == 0 {
						value, at = at%of, at/of
					}
					text += fmt.Sprintf("%.*s%d,", j%2, "w", value) // numbers and words
				}
				text += fmt.Sprintf("c%d\n", class)
			}
			files[domain] = writeFile(t, t.TempDir(), "rows.csv", text)
		}
		d := must.Have(Look(files[:1], files[1], Naming{}))(t)
		if by := append(d.Source.GroupBy, d.Source.Group); d.belong.sure.because != "" {
			t.Fatalf("draw %d of %v levels: groups by %q, because %s", draw, levels, by, d.belong.sure.because)
		}
	}
}

// A column of the unit's is found beside one whose range moved, on which one of two others depends in order, or one in waves, and
// one of few words. It stays a feature, as the domains' numbers lie among each other.
func TestUnitsBesideAMovedRange(t *testing.T) {
	for _, waves := range []bool{false, true} {
		random := rand.New(rand.NewPCG(4, 3))
		var files [2]string
		for domain := range files {
			text := "year,site,price,lot,poor,marks,label\n"
			for range 40 {
				poor, good := random.IntN(1000), random.IntN(2)
				for range 1 + random.IntN(20) {
					year := 20*domain + random.IntN(20)
					price, lot := float64(year), year*7%10
					if waves {
						price, lot = 8*math.Sin(0.87*price), random.IntN(10)
					}
					text += fmt.Sprintf("%d,s%d,%.2f,%d,%.1f,%.1f,c%d\n", 2000+year, 4*domain+random.IntN(4), price+random.NormFloat64(), lot, float64(poor)/10, float64(3*good)+random.NormFloat64(), good)
				}
			}
			files[domain] = writeFile(t, t.TempDir(), "rows.csv", text)
		}
		d := must.Have(Look(files[:1], files[1], Naming{}))(t)
		if !slices.Equal(d.Source.GroupBy, []string{"poor"}) || d.Width != 5 {
			t.Errorf("waves %v: groups by %q %q, %d values", waves, d.Source.Group, d.Source.GroupBy, d.Width)
		}
	}
}

// A measurement on which the class depends groups no rows, nor do words that both domains have, and nothing warns of it.
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
		d := must.Have(Look([]string{writeFile(t, t.TempDir(), "source.csv", rows(600, true))}, writeFile(t, t.TempDir(), "target.csv", rows(300, false)), Naming{}))(t)
		if d.belong.warnings != nil || d.belong.blatant != "" {
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
		d := must.Have(Look([]string{writeFile(t, t.TempDir(), "source.csv", source)}, writeFile(t, t.TempDir(), "target.csv", target), Naming{}))(t)
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
		d := must.Have(Look([]string{writeFile(t, t.TempDir(), "source.csv", source)}, writeFile(t, t.TempDir(), "target.csv", target), Naming{}))(t)
		if said := d.belong.outside; (said == "") != (want == "") || !strings.Contains(said, "\"b") && want != "" {
			t.Errorf("b = %q: %q, want %s", b, said, want)
		}
	}
}
