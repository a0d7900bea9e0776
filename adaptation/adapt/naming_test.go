package adapt

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/predict"
	"iwda/datasets/catalogue"
	"iwda/datasets/table"
	"iwda/experiments/config"
	"iwda/experiments/model"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

func writeFile(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	testfiles.Write(t, path, text)
	return path
}

// Columns count in the files that have them, and what is said of them is checked before.
func TestNaming(t *testing.T) {
	folder := t.TempDir()
	source := writeFile(t, folder, "source.csv", "ID,species,a,plate\n1,x,2,p\n2,y,3,p\n3,x,4,q\n4,y,5,q\n")
	two := writeFile(t, folder, "two.csv", "species,a,b,plate\nx,2,1,p\ny,3,1,p\n")
	labelled := writeFile(t, folder, "labelled.csv", "class,category,a,plate\nx,y,2,p\n")
	class := writeFile(t, folder, "class.csv", "Class,a\nx,2\ny,3\n")
	target := writeFile(t, folder, "target.csv", "sample,a,plate\n1,2,p\n")
	one := writeFile(t, folder, "one.csv", "site,label,a\nn,x,1\ns,,1\nn,y,1\ns,x,2\n")
	single := writeFile(t, folder, "single.csv", "site,label,a\nn,x,1\nn,y,1\n")
	three := writeFile(t, folder, "three.csv", "site,label,a\nn,x,1\ns,y,1\nw,,1\n")
	capitals := writeFile(t, folder, "capitals.csv", "ID,label,class,a\n1,x,y,2\n2,y,x,3\n")
	species := table.Roles{Label: "species"}
	for _, c := range []struct {
		source, target string
		n              Naming
		want           [2]table.Roles
		said           string
	}{
		{source, target, Naming{Roles: table.Roles{Label: "species", ID: "sample", Ignore: []string{"plate"}}},
			[2]table.Roles{{Label: "species", ID: "ID", Ignore: []string{"plate"}}, {ID: "sample", Ignore: []string{"plate"}}}, ""},
		{class, target, Naming{}, [2]table.Roles{{Label: "Class"}, {}}, `source: column "Class" is used as the label, because of its name; choose another one with --label-column`},
		{source, target, Naming{}, [2]table.Roles{{Label: "species", ID: "ID"}, {}}, `source: column "species" is used as the label, because the target lacks no other column; choose another one with --label-column`},
		{capitals, capitals, Naming{Roles: table.Roles{Ignore: []string{"ID"}}}, [2]table.Roles{{Ignore: []string{"ID"}}, {Ignore: []string{"ID"}}}, ""},
		{capitals, target, Naming{Roles: table.Roles{Label: "ID"}}, [2]table.Roles{{Label: "ID"}, {}}, ""},
		{capitals, target, Naming{Roles: table.Roles{Ignore: []string{"label"}}},
			[2]table.Roles{{Label: "class", ID: "ID", Ignore: []string{"label"}}, {}}, `source: column "class" is used as the label, because of its name; choose another one with --label-column`},
		{class, class, Naming{Roles: table.Roles{Label: "Class"}}, [2]table.Roles{{Label: "Class"}, {Label: "Class"}}, ""},
		{one, "", Naming{Roles: table.Roles{DomainColumn: "site"}},
			[2]table.Roles{{DomainColumn: "site", DomainValue: "n"}, {DomainColumn: "site", DomainValue: "s"}}, `source: rows with "n" in the column "site"; target: rows with "s"`},
		{three, three, Naming{Roles: table.Roles{DomainColumn: "site"}, SourceValues: []string{"n"}, TargetValue: "w"},
			[2]table.Roles{{DomainColumn: "site", DomainValue: "n"}, {DomainColumn: "site", DomainValue: "w"}}, `source: rows with "n" in the column "site"; target: rows with "w"`},
	} {
		files, said, err := c.n.files([]string{c.source}, c.target)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		for i, want := range c.want {
			if !files[i].Roles.Equal(want) {
				t.Errorf("%s, %s: %+v, want %+v", c.source, c.target, files[i].Roles, want)
			}
		}
		if got := strings.Join(said, "\n"); got != c.said {
			t.Errorf("said %q, want %q", got, c.said)
		}
	}
	var array bytes.Buffer
	must.Do(t, npyio.Write(&array, mat.NewDense(2, 2, []float64{1, 2, 3, 4})))
	nameless := writeFile(t, folder, "array.npy", array.String())
	for _, c := range []struct {
		source, target string
		n              Naming
		want           string
	}{
		{nameless, nameless, Naming{Roles: table.Roles{Label: "x"}}, nameless + `: there is no column "x", which --label-column names; a .npy file is one array of values, without names: write it beside others into an .npz file`},
		{two, target, Naming{}, two + `: which column has the labels? None is called label, class or target. Name it with --label-column NAME; columns that the target lacks are "species", "b"`},
		{source, labelled, Naming{}, source + `: which column has the labels?`},
		{target, target, Naming{}, `columns are "sample", "a", "plate"`},
		{source, target, Naming{Roles: table.Roles{Label: "specie"}}, source + `: there is no column "specie", which --label-column names; did you mean "species"?`},
		{source, target, Naming{Roles: table.Roles{Label: "species", ID: "ID"}}, target + `: there is no column "ID", which --id-column names`},
		{source, target, Naming{Roles: table.Roles{Label: "species", Ignore: []string{"b"}}}, source + " and " + target + `: there is no column "b", which --ignore names`},
		{folder, target, Naming{Roles: species}, folder + ": columns can be named only for a file of rows"},
		{source, target, Naming{Roles: table.Roles{Label: "species", DomainColumn: "plate"}}, "--domain-column is for one file with both domains, but these are two: "},
		{one, "", Naming{Roles: table.Roles{DomainColumn: "site"}, SourceValues: []string{"x"}}, one + `: column "site": no row has "x"; there are "n" (2 rows, 2 with labels), "s" (2 rows, 1 with labels)`},
		{single, "", Naming{Roles: table.Roles{DomainColumn: "site"}}, single + `: column "site": all rows are of one domain; add rows of the other one, or name another column with --domain-column; there are "n" (2 rows, 2 with labels)`},
		{three, "", Naming{Roles: table.Roles{DomainColumn: "site"}}, `the source is the one domain whose rows all have labels, but 2 domains are like that: name the source with --source-domain VALUE, or several; there are "n" (1 row, 1 with labels), "s" (`},
		{three, "", Naming{Roles: table.Roles{DomainColumn: "site"}, SourceValues: []string{"n"}}, `the source is "n", and 2 others could be the target: name one with --target-domain VALUE`},
		{one, "", Naming{Roles: table.Roles{DomainColumn: "site"}, SourceValues: []string{"n"}, TargetValue: "n"}, `"n" cannot be two domains`},
		{class, target, Naming{TargetValue: "n"}, "--source-domain and --target-domain need --domain-column"},
		{filepath.Join(folder, "none.csv"), target, Naming{}, "source: stat "},
	} {
		if _, _, err := c.n.files([]string{c.source}, c.target); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s, %+v: error %v, want one with %q", c.source, c.target, c.n, err, c.want)
		}
	}
}

// What is said of columns stands in the experiment file as it is read.
func TestNamingInTheExperimentFile(t *testing.T) {
	d := seen(catalogue.Vectors, 600, 500)
	d.Source.Roles = table.Roles{Label: "sp: \"ecies\"", Ignore: []string{"a, b", "c"}, DomainColumn: "yes", DomainValue: "1"}
	d.Target.Roles = table.Roles{ID: "#", DomainColumn: "yes", DomainValue: ""}
	file := parse(t, d)
	for _, want := range []Domain{d.Source, d.Target} {
		if got := domainFiles(file)[want.Domain]; got.Path != want.Path || !got.Roles.Equal(want.Roles) {
			t.Errorf("%+v, want %+v", got, want.Files)
		}
	}
	if err := d.checkExperiment(file); err != nil {
		t.Error(err)
	}
	d.Target.ID = ""
	must.Fail(t, d.checkExperiment(file), "uses other columns of the target: ")
}

// oneFile has both domains, with labels, ids, domains and more under names of their own.
func oneFile(t *testing.T, folder string) string {
	var text strings.Builder
	text.WriteString("sample,site,species,width,height,run\n")
	for i := range 240 {
		class, site, species := i%3, "north", "ant"
		if class > 0 {
			species = "bee"
		}
		if i%2 == 1 {
			site, species = "south", ""
		}
		fmt.Fprintf(&text, "s%d,%s,%s,%d,%d,%d\n", i, site, species, class*10+i%7, i%5, i)
	}
	return writeFile(t, folder, "both.csv", text.String())
}

// One file with both domains goes to predictions of one of them, with its own ids; the model reads
// any file with the columns that it learned from, and what labels say is found by these ids.
func TestOneFileWithBothDomains(t *testing.T) {
	folder := t.TempDir()
	path, out := oneFile(t, folder), filepath.Join(folder, "out")
	o := Options{Folder: out, Set: small, Columns: Naming{Roles: table.Roles{Label: "species", ID: "sample", Ignore: []string{"run"}, DomainColumn: "site"}}}
	must.Have(runHere(context.Background(), path, "", o))(t)
	predictions := lines(t, filepath.Join(out, names.Predictions))
	if len(predictions) != 121 || !strings.HasPrefix(predictions[1], "s1,") || !strings.HasPrefix(predictions[120], "s239,") {
		t.Fatalf("%d lines: %q", len(predictions), predictions[:2])
	}
	file := must.Have(config.Load(filepath.Join(out, names.Experiment)))(t)
	if got := domainFiles(file)[targetName]; got.ID != "sample" || got.DomainValue != "south" || !slices.Equal(got.Ignore, []string{"run"}) {
		t.Errorf("%+v", got)
	}
	members := must.Have(model.Trust{}.OpenEnsemble(out))(t)
	if in := members[0].Input; !slices.Equal(in.Columns, []string{"width", "height"}) || in.IDColumn != "sample" {
		t.Errorf("%+v", in)
	}
	again := filepath.Join(folder, "again.csv")
	written, err := predict.Write(context.Background(), members, predict.Request{Inputs: []string{path}, Shares: predict.ModelShares, Output: again}, predict.Options{Torch: iwrunTorch, Threads: 1, Batch: 50})
	if err != nil || written.Rows() != 240 {
		t.Fatalf("%d rows, %v", written.Rows(), err)
	}
	all := lines(t, again)
	for i, line := range predictions[1:] {
		if all[2+2*i] != line {
			t.Errorf("row %d: %q, in the whole file %q", i, line, all[2+2*i])
		}
	}
	labels := writeFile(t, folder, "labels.csv", "id,label\ns1,bee\ns3,ant\ns5,bee\ns7,bee\ns9,ant\n")
	e, err := evaluateHere(context.Background(), out, labels, EvaluateOptions{})
	if err != nil || len(e.Methods) == 0 || e.Methods[0].Accuracy.Value == 0 {
		t.Errorf("%+v, %v", e, err)
	}
	must.Refuse(runHere(context.Background(), path, "", Options{Folder: out, Columns: Naming{Roles: table.Roles{Label: "species", DomainColumn: "site"}}}))(t, "uses other columns of the source")
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	text := testfiles.Read(t, path)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// y is a coordinate in a table, and labels beside an array of features.
func TestLabelsCalledY(t *testing.T) {
	folder := t.TempDir()
	plane := writeFile(t, folder, "plane.csv", "x,y\n1,2\n3,4\n")
	if _, _, err := (Naming{}).files([]string{plane}, plane); err == nil || !strings.Contains(err.Error(), "which column has the labels?") {
		t.Errorf("error %v", err)
	}
	arrays := filepath.Join(folder, "arrays.npz")
	testfiles.Rows(t, arrays, 1, []float32{1}, "y", []int{1})
	files, said, err := (Naming{}).files([]string{arrays}, plane)
	if err != nil || files[0].Label != "y" || files[1].Label != "y" || len(said) != 1 {
		t.Errorf("%+v, said %q, %v", files, said, err)
	}
}

// A column of values called labels beside the one of labels, which is named, is one in the target too, which has no other.
func TestValuesCalledLabels(t *testing.T) {
	for _, value := range []string{"1.5", "word"} {
		folder, rows := t.TempDir(), strings.Repeat(value+",1,a\n2,2,b\n", 8)
		source := writeFile(t, folder, "source.csv", "labels,x,label\n"+rows)
		target := writeFile(t, folder, "target.csv", strings.NewReplacer(",a", "", ",b", "", ",label", "").Replace("labels,x,label\n"+rows))
		d, err := Look([]string{source}, target, Naming{Roles: table.Roles{Label: "label"}})
		if err != nil || d.Target.labelled() != 0 || d.Source.labelled() != 16 || d.columns() != 2 {
			t.Errorf("%s: %v, %d columns, %d and %d labels", value, err, d.columns(), d.Source.labelled(), d.Target.labelled())
		}
	}
}
