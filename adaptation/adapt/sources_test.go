package adapt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/adaptation/adapt/names"
	"iwda/datasets/table"
	"iwda/internal/must"
)

// hospital writes rows of a table, a share of them sick, with a measurement, a word that the hospital alone has in places,
// and a patient, who may have been elsewhere. Without a label column it is a target.
func hospital(t *testing.T, folder, name, label string, rows int, sick float64) string {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(rows), uint64(100*sick)))
	var text strings.Builder
	text.WriteString(strings.TrimSuffix("patient,age,ward,"+label, ",") + "\n")
	for i := range rows {
		class, ward, age := 0, "east", ""
		if random.Float64() < sick {
			class, ward = 1, "west"
		}
		if random.IntN(4) == 0 {
			ward = "only in " + name
		}
		if i%9 > 0 {
			age = fmt.Sprintf("%.1f", 40+10*float64(class)+4*random.NormFloat64())
		}
		fmt.Fprintf(&text, "p%d,%s,%s", i/2, age, ward)
		if label != "" {
			text.WriteString("," + []string{"well", "sick"}[class])
		}
		text.WriteString("\n")
	}
	return writeFile(t, folder, name, text.String())
}

// adaptHere adapts from several sources.
func adaptHere(sources []string, target string, o Options) (*Plan, *Outcome, error) {
	if o.Torch = iwrunTorch; o.Train == nil {
		o.Train = o.trainHere
	}
	p, err := NewPlan(sources, target, o)
	if err != nil {
		return nil, nil, err
	}
	outcome, err := p.Run(context.Background())
	return p, outcome, err
}

// Two hospitals with opposite shares are one source of a table: its words, missing values, labels, groups and rows
// are those of both, and so is what is recorded, evaluated and refused afterwards.
func TestSeveralSources(t *testing.T) {
	folder := t.TempDir()
	a, b, target := hospital(t, folder, "a.csv", "Class", 300, 0.2), hospital(t, folder, "b.csv", "category", 200, 0.8), hospital(t, folder, "t.csv", "", 240, 0.5)
	o := Options{Folder: filepath.Join(folder, "out"), Set: []string{"methods=[source-only@linear, source-only@forest]"}, Columns: Naming{Roles: table.Roles{Group: "patient"}}}
	p, outcome := must.Both(adaptHere([]string{a, b}, target, o))(t)
	d := p.Data
	levels := d.Learnt.Encoding[slices.IndexFunc(d.Learnt.Encoding, func(c table.Coding) bool { return c.Column == "ward" })].Levels
	if !slices.Contains(levels, "only in a.csv") || !slices.Contains(levels, "only in b.csv") || d.Learnt.Columns[0].Missing[0] != 34+23 {
		t.Errorf("words %q, missing %v", levels, d.Learnt.Columns[0].Missing)
	}
	if all, _ := d.Source.inGroups(); all != 150 || d.Source.Rows != 500 || len(d.Classes) != 2 || slices.Contains(d.Source.Counts, 0) {
		t.Errorf("%d groups of %d rows of %q, %v", all, d.Source.Rows, d.Classes, d.Source.Counts)
	}
	seen, _ := d.seen()
	wants(t, strings.Join(append(seen, d.Said...), "\n"), "500 rows of 6 values in 150 groups, 2 classes", "\na.csv: 300 rows in 150 groups of 2 classes: \"well\"", "\nb.csv: 200 rows in 100 groups of 2 classes: \"sick\"",
		`source: column "Class" is used as the label`, `source2: column "category" is used as the label`)
	if of := outcome.Sources; len(of) != 2 || of[0].Path != a || of[1].Rows != 200 || outcome.Source.Path != "" || outcome.Source.Rows != 500 {
		t.Errorf("%+v of %+v", of, outcome.Source)
	}
	if i := slices.IndexFunc(outcome.Decisions, func(d Decision) bool { return d.About == "sources" }); i < 0 || outcome.Decisions[i].Choice != "2, taken as one" {
		t.Errorf("%+v", outcome.Decisions)
	}
	wants(t, string(p.Text), `title: "a.csv + b.csv → t.csv"`, "# Of these, 300 are of source, 200 are of source2. Methods", "tasks: [source+source2-target]\n")
	if reads := Reads(o.Folder); !slices.Contains(reads, a) || !slices.Contains(reads, b) || !slices.Contains(reads, target) {
		t.Errorf("evaluate may write over what it reads: %q", reads)
	}
	labels := writeFile(t, folder, "labels.csv", "id,label\n0,well\n1,sick\n2,sick\n3,well\n")
	if e, err := evaluateHere(context.Background(), o.Folder, labels, EvaluateOptions{Choose: true}); err != nil || len(e.Methods) != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	for want, sources := range map[string][]string{
		"task source+source2-target is not that of these files": {a}, "is for the source " + a: {b, a}, "is for the source3 (none)": {a, b, b}, names.Predictions + " would be written over": {a, filepath.Join(o.Folder, names.Predictions)},
	} {
		if _, _, err := adaptHere(sources, target, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", sources, err, want)
		}
	}
	hospital(t, folder, "b.csv", "category", 202, 0.8)
	must.Refuse(evaluateHere(context.Background(), o.Folder, labels, EvaluateOptions{Choose: true}))(t, "was trained on "+a+", "+b+" and "+target+", which have changed since")
}

// Methods that make steps weigh each source by itself, unless these are pooled, and then each class must be in each.
func TestSourcesOfSteps(t *testing.T) {
	folder := t.TempDir()
	a, b, target := hospital(t, folder, "a.csv", "label", 200, 0.2), hospital(t, folder, "b.csv", "label", 120, 0.8), hospital(t, folder, "t.csv", "", 100, 0.5)
	third := writeFile(t, folder, "third.csv", "patient,age,ward,label\n"+strings.Repeat("p1,60,west,dead\np2,40,east,well\np3,50,west,sick\n", 9))
	o := Options{Folder: filepath.Join(folder, "out"), Set: small, Columns: Naming{Form: Array, Roles: table.Roles{Ignore: []string{"patient"}}}}
	p, outcome := must.Both(adaptHere([]string{a, b}, target, o))(t)
	result, err := p.Runs[3].Dir(p.results()).ReadResult()
	if err != nil || len(result.Sources) != 2 || result.Sources[0].Shares[0] >= 0.4 || result.Sources[1].Shares[0] <= 0.6 {
		t.Errorf("%+v, %v", result.Sources, err)
	}
	if d := outcome.Decisions[0]; d.Choice != "2, each with its own class weights" || p.Data.length(0).Batch != 16 {
		t.Errorf("%+v, %+v", d, p.Data.length(0))
	}
	o.Folder = filepath.Join(folder, "other")
	_, _, err = adaptHere([]string{a, third}, target, o)
	if err == nil || !strings.Contains(err.Error(), a+`: with class weights for each source, each needs at least 3 rows of each class, and as many groups if there are some; "dead" has 0 in a.csv: add rows, or take the sources as one`) || names.Exists(o.Folder) {
		t.Errorf("error %v", err)
	}
	for _, n := range []Naming{{}, o.Columns} {
		o.Columns, o.Set = n, []string{"dataset.pool=true", "methods=[source-only@linear]"}
		if p, err := NewPlan([]string{a, third}, target, o); err != nil || !slices.Equal(p.Data.Classes, []string{"dead", "sick", "well"}) || p.decisions()[0].Choice != "2, taken as one" {
			t.Errorf("pooled: %v", err)
		}
	}
}

// What is wrong with a source names it, and one file may have several.
func TestMistakesOfSources(t *testing.T) {
	folder := t.TempDir()
	a, target := hospital(t, folder, "a.csv", "outcome", 60, 0.5), hospital(t, folder, "t.csv", "", 60, 0.5)
	label := Naming{Roles: table.Roles{Label: "outcome"}}
	for text, want := range map[string]string{
		"patient,age,outcome\np1,3,well\n":               `b.csv:1: there is no column "ward", but ` + a + " has one",
		"patient,age,ward,label\np1,3,x,y":               `b.csv: there is no column "outcome", which --label-column names`,
		"patient,age,ward,outcome\np,3,x,":               "b.csv: no row has a label; the source needs labels",
		"patient,age,ward,outcome\np,3,x,well\np,4,x,\n": "b.csv:3: 1 of 62 rows has no label",
		"patient,age,ward,outcome\np,3,x,dead\n":         `"dead" has 1: add rows`,
	} {
		if err := CheckData(context.Background(), new(strings.Builder), []string{a, writeFile(t, folder, "b.csv", text)}, target, label, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	var text strings.Builder
	text.WriteString("site,row,x,label\n")
	for i := range 90 {
		class := []string{"a", "b"}[i/3%2]
		if i%3 == 2 {
			class = ""
		}
		fmt.Fprintf(&text, "%s,%d,%d,%s\n", []string{"n", "s", "w"}[i%3], i/3, i%7, class)
	}
	one, n := writeFile(t, folder, "one.csv", text.String()), Naming{Roles: table.Roles{DomainColumn: "site"}, SourceValues: []string{"n", "s"}}
	said := new(strings.Builder)
	must.Do(t, CheckData(context.Background(), said, []string{one}, "", n, ""))
	wants(t, said.String(), `source: rows with "n" or "s" in the column "site"; target: rows with "w"`, "source: 60 rows of 2 classes: \"a\" 30, \"b\" 30\n  \"n\": 30 rows of 2 classes: \"a\" 15, \"b\" 15\n", "counts the rows of the source and the target")
	n.SourceValues = []string{"n", "n"}
	must.Fail(t, CheckData(context.Background(), said, []string{one}, "", n, ""), `"n" cannot be two domains`)
	p, err := NewPlan([]string{a, a}, target, Options{Folder: filepath.Join(folder, "out"), Columns: label})
	if err != nil || !strings.Contains(strings.Join(p.Warnings, "\n"), "Two sources are the same: "+a) {
		t.Errorf("%+v, %v", p, err)
	}
}
