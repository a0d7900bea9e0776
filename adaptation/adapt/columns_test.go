package adapt

import (
	"math/rand/v2"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/datasets/catalogue"
	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/config"
	"iwda/internal/must"
)

// columnsOf draws 200 rows of 10 normal columns; change may change the value of row i and
// column j.
func columnsOf(t *testing.T, seed uint64, change func(i, j int, value *float32)) datasets.Set {
	t.Helper()
	const rows, columns = 200, 10
	random := rand.New(rand.NewPCG(seed, 2))
	values, labels := make([]float32, rows*columns), make([]int, rows)
	for i := range rows {
		labels[i] = i % 2
		for j := range columns {
			value := &values[i*columns+j]
			if *value = float32(random.NormFloat64()); change != nil {
				change(i, j, value)
			}
		}
	}
	return must.Have(datasets.NewFeatures("drawn", values, datasets.KnownLabels(labels), []string{"a", "b"}))(t)
}

// Classes that may be one, and a target that is the source, are warned of.
func TestWarningsOfNames(t *testing.T) {
	d := Data{Classes: []string{"Line", "line", "big star", "Big_Star", "dot"}, Source: Domain{Files: catalogue.Files{Path: "a"}}, Target: Domain{Files: catalogue.Files{Path: "a"}}}
	got := d.Warnings(new(config.Config))
	if len(got) != 2 || !strings.HasPrefix(got[0], "Source and target are the same: a.") || !strings.Contains(got[1], `: "Line" and "line", "big star" and "Big_Star". `) {
		t.Errorf("%q", got)
	}
	d.Target.Path = "b"
	d.Classes = []string{"caf\u00e9", "cafe\u0301", "x\u200b", "x", "y\u00a0z", "y z", "kg", "\u338f", "co-op", "co\u2011op", "e", "\u00e9", "1", "10", "-1", "-1:30", "1:30"}
	if got := d.Warnings(new(config.Config)); len(got) != 1 || !strings.Contains(got[0], ` alike: "café" and "cafe\u0301", "x\u200b" and "x", "y\u00a0z" and "y z", "kg" and "㎏", "co-op" and "co‑op". They`) {
		t.Errorf("%q", got)
	}
	d.Classes = []string{"line", "big star"}
	d.Learnt.Encoding = table.Encoding{{Column: "sex", Levels: []string{"M", "f", "m"}}, {Column: "age"}, {Column: "ward", Levels: []string{"A", "B"}}}
	if got := d.Warnings(new(config.Config)); len(got) != 1 || !strings.HasPrefix(got[0], `Column "sex": some words look alike: "M" and "m". They differ`) {
		t.Errorf("%q", got)
	}
	d.Learnt.Encoding = nil
	if got := d.Warnings(new(config.Config)); got != nil {
		t.Errorf("%q", got)
	}
}

func TestWarnings(t *testing.T) {
	row := func(i, _ int, value *float32) {
		if i == 17 {
			*value *= 1e6
		}
	}
	dead := func(_, j int, value *float32) {
		if j == 3 || j == 8 {
			*value = 5
		}
	}
	missing := func(i, j int, value *float32) {
		if (j == 4 || j == 6) && i%20 == 0 {
			*value = -999
		}
	}
	huge := func(i, j int, value *float32) {
		if j == 7 && i == 5 {
			*value = 1e30
		}
	}
	number := func(i, j int, value *float32) {
		if j == 5 {
			*value = float32(1000 + i)
		}
	}
	for name, test := range map[string]struct {
		source, target datasets.Set
		normalise      string
		want           []string // parts of the sentences
	}{
		"nothing to say":    {columnsOf(t, 1, nil), columnsOf(t, 2, nil), normalise.Standard, nil},
		"dead in a target":  {columnsOf(t, 1, nil), columnsOf(t, 2, dead), normalise.Matched, []string{"2 of 10 columns have only one value in one domain, but not in the other: 3, 8. Check that they are measured alike in both."}},
		"dead in both":      {columnsOf(t, 1, dead), columnsOf(t, 2, dead), normalise.Matched, nil},
		"missing values":    {columnsOf(t, 1, nil), columnsOf(t, 2, missing), normalise.Matched, []string{"2 of 10 columns of the target have a value far from all others: for example -999 in 10 rows of column 4. It can spoil the training: correct errors, and if it stands for missing values, put their column's mean there."}},
		"one value":         {columnsOf(t, 1, nil), columnsOf(t, 2, huge), normalise.OfSource, []string{"1 of 10 columns of the target has a value far from all others: 1e+30 in 1 row of column 7. It can spoil the training"}},
		"clipped":           {columnsOf(t, 1, nil), columnsOf(t, 2, row), normalise.Matched, []string{"10 of 10 columns are clipped, because a few extreme values make up most of their variance in one domain: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9.", "10 of 10 columns of the target have a value far from all others"}},
		"marks are clipped": {columnsOf(t, 1, missing), columnsOf(t, 2, nil), normalise.Matched, []string{"2 of 10 columns are clipped", "2 of 10 columns of the source have a value far from all others: for example -999 in 10 rows of column 4."}},
		"a row's number":    {columnsOf(t, 1, number), columnsOf(t, 2, nil), normalise.Matched, []string{"1 of 10 columns of the source counts the rows: 5."}},
		"not standardised":  {columnsOf(t, 1, row), columnsOf(t, 2, dead), normalise.None, nil},
	} {
		data := Data{Width: 10, Columns: lookAtColumns([]datasets.Set{test.source}, test.source, test.target)}
		var experiment config.Config
		experiment.Network.Normalise = test.normalise
		if strings.Contains(name, "clipped") {
			experiment.Network.Clip = 2
		}
		got := data.Warnings(&experiment)
		if len(got) != len(test.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i, want := range test.want {
			if !strings.HasPrefix(got[i], want) {
				t.Errorf("%s: %q, want %q", name, got[i], want)
			}
		}
	}
}
