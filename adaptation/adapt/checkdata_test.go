package adapt

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/adaptation/adapt/names"
	"iwda/datasets/table"
	"iwda/experiments/schedule"
	"iwda/internal/input"
	"iwda/internal/must"
)

// checked is what is said of data, and the error.
func checked(source, target string, n Naming) (string, error) {
	var said strings.Builder
	err := CheckData(context.Background(), &said, []string{source}, target, n, "")
	return said.String(), err
}

// wants fails the test unless a text has all parts.
func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("nothing of %q in\n%s", part, text)
		}
	}
}

// refusal is the error with which adapt refuses data.
func refusal(source, target string, n Naming) error {
	nothing := func(context.Context, Training) ([]schedule.Failure, error) {
		return nil, errors.New("trained")
	}
	folder, err := os.MkdirTemp("", "refusal")
	if err == nil {
		defer os.RemoveAll(folder)
		_, err = runHere(context.Background(), source, target, Options{Folder: filepath.Join(folder, "out"), Columns: n, Train: nothing})
	}
	return err
}

// Each column has a line that says what it is, what is odd about it, and what becomes of it.
func TestCheckData(t *testing.T) {
	var source, target strings.Builder
	source.WriteString("nr;kind;size;colour;batch;count;odd;note;here\n")
	target.WriteString("nr,size,colour,batch,count,odd,note,there\n")
	for i := range 60 {
		size, odd := fmt.Sprintf("%d.5", i%5), fmt.Sprint(float64(i%7)/8)
		if i%10 == 0 {
			size = ""
		}
		if i%20 == 0 {
			odd = "-999"
		}
		fmt.Fprintf(&source, "%d;%s;%s;%s;7;%d;%s;note %d;x%d\n", i, []string{"ant", "bee", "ant"}[i%3], strings.Replace(size, ".", ",", 1), []string{"red", "blue"}[i%2], 1000+i, strings.Replace(odd, ".", ",", 1), i, i)
		if i == 40 {
			size = "wide"
		}
		fmt.Fprintf(&target, "%d,%s,%s,%d,%d,%s,note %d,1\n", i, size, []string{"red", "grey", "NA"}[i%3], i%4, i, odd, i)
	}
	folder := t.TempDir()
	s, to := writeFile(t, folder, "source.csv", source.String()), writeFile(t, folder, "target.csv", target.String())
	n := Naming{Roles: table.Roles{Label: "kind", Ignore: []string{"nr", "here"}}}
	said := must.Have(checked(s, to, n))(t)
	wants(t, said, `source: `+s+` (labels in "kind", without "nr", "here")`, "only in the source: \"kind\", \"here\"\nonly in the target: \"there\"\n", "source: numbers have a decimal comma\n",
		`source: 60 rows of 2 classes: "ant" 40, "bee" 20`, "target: 60 rows without labels\n",
		`"size"    number            2.722 ± 1.315, 10.0% missing  2.722 ± 1.315, 10.0% missing  missing cells become the median, 2.5; another column marks them; `+to+`:42: "wide" is not a number and counts as missing`,
		`"colour"  words, 2 levels                                 33.3% missing                 one column per level; `+to+`:3: "grey" is none of this column's words in `+s+`; 20 of 40 cells (50.0%) have such words, which are ignored; no row of the target has "blue"`,
		`always 7                      1.5 ± 1.118                   has only one value in one domain: left out if columns are standardised`,
		"counts the rows of the source and the target: name it with --id-column or --ignore\n",
		"-999 in 3 rows of the source may be an error, or stand for missing values; -999 in 3 rows of the target may be an error, or stand for missing values",
		"if it stands for missing values, leave their cells empty.\n",
		`"note"    words, 60 levels                                                              left out: 60 different words in 60 cells, as in a column of ids`,
		"adapt trains at most 6 runs without steps; source-only@linear decides whether 4 or 6; methods: source-only@linear, source-only@perceptron, source-only@forest, source-only@boosting, source-only@linear-own, source-only@boosting-own\n", "\nwarning: 1 of 5 columns has only one value in one domain, but not in the other: \"batch\". Check that it is measured alike in both.\n")
	if strings.Contains(said, "nr\"  ") || !strings.HasPrefix(said, "source: ") {
		t.Error(said)
	}
	if err := refusal(s, to, n); err == nil || err.Error() != "trained" {
		t.Errorf("adapt: %v", err)
	}
}

// What adapt refuses is refused with the same sentence, after what can be said all the same.
func TestCheckDataRefuses(t *testing.T) {
	folder := t.TempDir()
	good := writeFile(t, folder, "good.csv", "label,a\n"+strings.Repeat("x,1\ny,2\n", 9))
	for name, c := range map[string]struct{ source, target, said, want string }{
		"a column is missing": {good, writeFile(t, folder, "b.csv", "b\n"+strings.Repeat("1\n", 20)), "only in the source: \"label\", \"a\"\nonly in the target: \"b\"\n", `there is no column "a", but ` + good + ` has one; the columns of values are "b"; add it, rename the column that is the same, or leave it out with --ignore a`},
		"one class":           {writeFile(t, folder, "one.csv", "label,a\n"+strings.Repeat("x,1\n", 9)), writeFile(t, folder, "same.csv", "a\n"+strings.Repeat("1\n", 19)), `source: 9 rows of 1 class: "x" 9`, `one.csv has the classes ["x"]; at least 2 are needed`},
		"-1":                  {writeFile(t, folder, "minus.csv", "label,a\n"+strings.Repeat("-1,1\n0,2\n1,3\n", 9)), writeFile(t, folder, "ones.csv", "a\n"+strings.Repeat("1\n", 19)), "9 without a label", "minus.csv:2: 9 of 27 rows have no label, this one is the first; training needs labels: leave out the rows without one; the label -1 stands for an unknown class: if it is a class, give it another name"},
		"no label":            {writeFile(t, folder, "empty.csv", "label,a\n"+strings.Repeat("x,1\ny,2\n", 9)+",3\n,\n"), good, "1 without a label", "empty.csv:20: 1 of 19 rows has no label; training needs labels"},
		"few rows":            {good, writeFile(t, folder, "few.csv", "a\n1\n2\n"), "target: 2 rows without labels\n\ncolumn", "few.csv has 2 rows; at least 10 are needed to estimate the means and deviations of its columns, and its class shares: add rows"},
		"no labels":           {writeFile(t, folder, "bare.csv", "a\n1\n"), good, "", "which column has the labels?"},
		"two marks":           {writeFile(t, folder, "marks.csv", "label;a\nx;1,5\ny;1.5\n"), good, "", `marks.csv:2: column "a": "1,5" has a comma, but line 3, column "a": "1.5", a point`},
	} {
		said, err := checked(c.source, c.target, Naming{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(said, c.said) {
			t.Errorf("%s: %v, want %q\n%s", name, err, c.want, said)
		}
		if of := refusal(c.source, c.target, Naming{}); of == nil || err != nil && of.Error() != err.Error() {
			t.Errorf("%s: adapt says %v, check-data %v", name, of, err)
		}
	}
}

// Means are those of the values that are there, whatever stands for the others.
func TestCheckDataOfMissingValues(t *testing.T) {
	folder := t.TempDir()
	source := writeFile(t, folder, "s.csv", "label,a,b\n"+strings.Repeat("x,1,5\ny,3,5\nx,,\ny,,\ny,2,5\n", 6))
	target := writeFile(t, folder, "t.csv", "a,b\n"+strings.Repeat("1001,\n,\n1003,\n", 6))
	said := must.Have(checked(source, target, Naming{}))(t)
	wants(t, said, `"a"     number    2 ± 0.8165, 40.0% missing  1002 ± 1, 33.3% missing  missing cells become the median, 2;`, "always 5, 40.0% missing    100.0% missing           missing cells become the median")
}

// Of hundreds of columns only those have a line at which there is something to see.
func TestCheckDataOfManyColumns(t *testing.T) {
	const columns = 70
	var header, source, target strings.Builder
	for j := range columns {
		fmt.Fprintf(&header, ",f%d", j)
	}
	for i := range 40 {
		fmt.Fprintf(&source, "\n%s", []string{"x", "y"}[i%2])
		fmt.Fprintf(&target, "\n")
		for j := range columns {
			v := (i*(j+3) + i*i) % 11
			fmt.Fprintf(&source, ",%d", v)
			if j == 5 {
				v = 3
			}
			fmt.Fprintf(&target, ",%d", v)
		}
	}
	folder := t.TempDir()
	said := must.Have(checked(writeFile(t, folder, "s.csv", "label"+header.String()+source.String()), writeFile(t, folder, "t.csv", "label"+header.String()+target.String()), Naming{}))(t)
	wants(t, said, "\n69 other columns of numbers, with nothing unusual\n", `"f5"`)
	if n := strings.Count(said, `"f`); n != 2 { // its line and a warning
		t.Errorf("%d columns in\n%s", n, said)
	}
}

// Folders of images: counts, sizes, and files that are broken.
func TestCheckDataOfImages(t *testing.T) {
	folder := t.TempDir()
	paths := []string{"s/cat/1.png", "s/cat/2.png", "s/cat/3.png", "s/dog/1.png", "s/dog/2.png", "s/dog/3.png"}
	for i := range fewestTargetRows {
		paths = append(paths, fmt.Sprintf("t/%d.png", i))
	}
	for i, path := range paths {
		path = filepath.Join(folder, path)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		file, err := os.Create(path)
		if err == nil {
			err = errors.Join(png.Encode(file, image.NewGray(image.Rect(0, 0, 10+i, 20))), file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("IWDA_DATA", folder)
	source, target := filepath.Join(folder, "s"), filepath.Join(folder, "t")
	said, err := checked(source, target, Naming{})
	wants(t, said, `source: 6 images of 2 classes: "cat" 3, "dog" 3`, "target: 10 images without labels", "source: 10×20 to 15×20 pixels\ntarget: 16×20 to 25×20 pixels\n")
	clear, err2 := os.Create(filepath.Join(target, "1.png"))
	if err2 == nil {
		err2 = errors.Join(png.Encode(clear, image.NewNRGBA(image.Rect(0, 0, 16, 20))), clear.Close())
	}
	if err2 != nil {
		t.Fatal(err2)
	}
	var small strings.Builder
	must.Do(t, CheckData(context.Background(), &small, []string{source}, target, Naming{}, SmallNetwork))
	wants(t, small.String(), "warning: "+target+": 1 of 10 images have transparent pixels, which are taken as on white", "training sees a random part of each image, never mirrored\n")
	if of := refusal(source, target, Naming{}); err == nil || of == nil || of.Error() != err.Error() || !strings.Contains(err.Error(), "network.pretrained") {
		t.Errorf("without weights: %v, adapt: %v", err, of)
	}
	few := filepath.Join(folder, "s", "dog")
	must.Fail(t, refusal(source, few, Naming{}), few+" has 3 images; at least 10 are needed to estimate its class shares: add images")
	writeFile(t, folder, "t/4.tif", "")
	if said, _ := checked(source, target, Naming{}); !strings.Contains(said, target+": files that are ignored: 1 .tif;") {
		t.Errorf("passed over:\n%s", said)
	}
	writeFile(t, folder, "t/3.png", "no image")
	if _, err := checked(source, target, Naming{}); err == nil || !strings.HasPrefix(err.Error(), "1 image cannot be read: images: "+filepath.Join(target, "3.png")) || !strings.HasSuffix(err.Error(), "repair them") {
		t.Errorf("error %v", err)
	}
	// adapt finds it before something is trained.
	adapt := func() error {
		o := Options{Folder: filepath.Join(t.TempDir(), "out"), Network: SmallNetwork}
		_, err := runHere(context.Background(), source, target, o)
		if names.Exists(o.Folder) {
			t.Errorf("%s was written", o.Folder)
		}
		return err
	}
	if err := adapt(); err == nil || !errors.Is(err, input.ErrWrong) || !strings.HasPrefix(err.Error(), "1 image cannot be read: images: "+filepath.Join(target, "3.png")) {
		t.Errorf("error %v", err)
	}
}

// A value far from all others is said of the domain that has it, in one file with both domains too.
func TestCheckDataOfFarValues(t *testing.T) {
	var text strings.Builder
	text.WriteString("site,label,a,b,c\n")
	for i := range 400 {
		site, class, far := "south", "", ""
		if i%4 == 0 {
			site, class = "north", []string{"x", "y"}[i/4%2]
		}
		if i == 200 || i == 205 {
			far = "e6"
		}
		fmt.Fprintf(&text, "%s,%s,%d,1.%d%s,%d\n", site, class, i%7, i%9, far, i%5)
	}
	path := writeFile(t, t.TempDir(), "both.csv", text.String())
	var b strings.Builder
	must.Do(t, CheckData(context.Background(), &b, []string{path}, "", Naming{Roles: table.Roles{DomainColumn: "site"}}, ""))
	wants(t, strings.Join(strings.Fields(b.String()), " "), "1.2e+06 in 1 row of the source may be an error", "1.7e+06 in 1 row of the target may be", "of the source has a value far from all others: 1.2e+06 in 1 row of column \"b\"")
}

// Ids that are not unique are warned of before anything is trained: labels could not be told apart.
func TestCheckDataOfRepeatedIDs(t *testing.T) {
	source, target := "id,x,label\n", "id,x\n"
	for i := range 60 {
		source += fmt.Sprintf("s,%d,%s\n", i%7, []string{"a", "b"}[i%2])
		target += fmt.Sprintf("t%d,%d\n", max(0, i-3), i%7)
	}
	folder := t.TempDir()
	var b strings.Builder
	must.Do(t, CheckData(context.Background(), &b, []string{writeFile(t, folder, "s.csv", source)}, writeFile(t, folder, "t.csv", target), Naming{}, ""))
	wants(t, b.String(), `The ids of the target are not unique: 3 rows have the same id as another row, for example "t0".`)
}

// A column whose location, scale or share of missing cells no other class shares would give is named with
// its numbers; columns that class shares alone change, however much, are not.
func TestCheckDataOfColumnsThatDiffer(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 9))
	source, target := "label,height,dose,noise,moved,colour,rare,kind,full\n", "height,dose,noise,moved,colour,rare,kind,full\n"
	line := func(class int, unit, dose, scale float64, colour, rare, kind string) string {
		full := ""
		if random.Float64() < []float64{0.1, 0.9}[class] { // follows the class
			full = "5"
		}
		return fmt.Sprintf("%.4g,%.4g,%.4g,%.4g,%s,%s,%s,%s\n", unit*(120+40*float64(class)+20*random.NormFloat64()), dose, scale*random.NormFloat64(), 10*float64(class)+random.NormFloat64(), colour, rare, kind, full)
	}
	for i := range 600 {
		class := i % 2
		source += []string{"a,", "b,"}[class] + line(class, 1, random.ExpFloat64(), 1, []string{"red", "blue", "green"}[i%3], []string{"x", ""}[i/20%20/19], []string{"p", "q"}[class])
		class = min(1, i%20)
		dose := ""
		if i%3 == 0 {
			dose = fmt.Sprintf("%.3g", random.ExpFloat64())
		}
		of := line(class, 0.01, 0, 5, "", []string{"x", ""}[i/20%20/19], []string{"p", "q"}[class])
		target += strings.Replace(of, ",0,", ","+dose+",", 1)
	}
	folder := t.TempDir()
	s, to := writeFile(t, folder, "s.csv", source), writeFile(t, folder, "t.csv", target)
	said, err := checked(s, to, Naming{})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, said, `warning: 4 of 8 columns differ beyond what other class shares explain: "height" (mean 1.5`, ` in the target, 11`, ` in the source's classes), "dose" (missing in 67% of the target's rows, but in 0% to 0% of each class in the source), "noise" (standard deviation `,
		`"colour" (missing in 100% of the target's rows, but in 0% to 0% of each class in the source). Check that they are measured alike in both, in the same unit.`)
	if n := strings.Count(said, "by the source's classes"); n != 2 { // a line of the table, and the warning
		t.Errorf("the scale is spoken of %d times", n)
	}
	if said, err = checked(s, writeFile(t, folder, "same.csv", source), Naming{}); err != nil || strings.Contains(said, "beyond") {
		t.Errorf("the same file: %v\n%s", err, said)
	}
	source, target = "label,second,day\n", "second,day\n"
	for i := range 60 {
		source += fmt.Sprintf("%c,%d,1700000000\n", "ab"[i%2], 1700000001+i%3)
		target += fmt.Sprintf("%d,1700003600\n", 1700003601+i%3)
	}
	said = must.Have(checked(writeFile(t, folder, "s.csv", source), writeFile(t, folder, "t.csv", target), Naming{}))(t)
	wants(t, said, "1700000002 ± 0.8165 ", " 1700003602 ± 0.8165 ", "mean 1700003602 in the target, 1700000002 to 1700000002 in", "always 1.7e+09 ", " always 1.700004e+09 ")
}
