package command

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"iwda/datasets/table"
	"iwda/internal/commandline"
	"iwda/internal/gaussians"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// row is a labelled row of probabilities.
type row struct {
	probabilities []float64
	label         int
}

// writePredictions writes rows as CSV, the source's with labels.
func writePredictions(t *testing.T, path string, classes []string, rows []row, labelled bool) {
	t.Helper()
	var text strings.Builder
	text.WriteString("id")
	for _, class := range classes {
		text.WriteString(",probability_" + class)
	}
	if labelled {
		text.WriteString(",label")
	}
	text.WriteString("\n")
	for i, r := range rows {
		fmt.Fprintf(&text, "photo-%d", i+1)
		for _, p := range r.probabilities {
			text.WriteString("," + strconv.FormatFloat(p, 'g', 6, 64))
		}
		if labelled {
			text.WriteString("," + classes[r.label])
		}
		text.WriteString("\n")
	}
	testfiles.Write(t, path, text.String())
}

var animals = []string{"cat", "dog", "owl"}

// photos draws rows of three classes of which the target has fewer cats and more owls.
func photos(n, m int) (source, target []row) {
	p := gaussians.Problem{Separation: []float64{2, 2, 2}, Source: []float64{0.5, 0.3, 0.2}, Target: []float64{0.15, 0.25, 0.6}}
	random := rand.New(rand.NewPCG(1, 2))
	probabilities, labels := p.SourceRows(n, random)
	for i, label := range labels {
		source = append(source, row{probabilities[3*i : 3*i+3], label})
	}
	probabilities = p.TargetRows(m, random)
	for i := range m {
		target = append(target, row{probabilities: probabilities[3*i : 3*i+3]})
	}
	return source, target
}

// inPhotos makes a folder with both files the working directory.
func inPhotos(t *testing.T, n, m int) {
	t.Helper()
	t.Chdir(t.TempDir())
	source, target := photos(n, m)
	writePredictions(t, "source.csv", animals, source, true)
	writePredictions(t, "target.csv", animals, target, false)
}

const onPhotos = "labelshift source.csv target.csv"

// callLine runs a command line without spaces in its words.
func callLine(t *testing.T, line string) (status int, out, err string) {
	t.Helper()
	var outText, errText strings.Builder
	of := New("iwrun labelshift", &outText, &errText)
	of.OnUsageError = commandline.WrongFlag
	app := &cli.App{
		Name: "iwrun", Writer: &outText, ErrWriter: &errText, Commands: []*cli.Command{of},
		HideHelpCommand: true, ExitErrHandler: func(*cli.Context, error) {}, DisableSliceFlagSeparator: true,
	}
	words := strings.Fields(line)
	arguments := append([]string{"iwrun", words[0]}, commandline.FlagsFirst(of.Flags, words[1:])...)
	status = commandline.Conclude(app, []string{of.Name}, app.Run(arguments), &errText)
	return status, outText.String(), errText.String()
}

// Columns with the bare names of classes, whose rows sum to 1, are probabilities as columns probability_CLASS are.
func TestBareNames(t *testing.T) {
	inPhotos(t, 1000, 1000)
	_, want, _ := callLine(t, onPhotos)
	for _, name := range []string{"source.csv", "target.csv"} {
		text := testfiles.Read(t, name)
		testfiles.Write(t, name, strings.ReplaceAll(string(text), "probability_", ""))
	}
	if status, out, said := callLine(t, onPhotos); status != 0 || out != want {
		t.Errorf("status %d, %s\n%s", status, said, out)
	}
}

// The printed example of the documentation is what the program prints.
func TestLabelShiftExample(t *testing.T) {
	page := testfiles.Read(t, "../../../docs/explanation/label-shift.md")
	inPhotos(t, 1000, 1000)
	status, out, said := callLine(t, onPhotos)
	if status != 0 || said != "" {
		t.Fatalf("status %d, stderr %q", status, said)
	}
	if !strings.Contains(string(page), "\n```\n"+out+"```\n") {
		t.Errorf("docs/explanation/label-shift.md does not show what is printed:\n%s", out)
	}
}

// Corrected predictions and the table go into files.
func TestLabelShiftFiles(t *testing.T) {
	inPhotos(t, 400, 300)
	const corrected = "corrected.csv"
	status, out, said := callLine(t, onPhotos+" --replicas 20 -o table.json --format json --corrected "+corrected)
	if status != 0 || out != "" || !strings.Contains(said, corrected+": corrected predictions of 300 rows") {
		t.Fatalf("status %d, stdout %q, stderr %q", status, out, said)
	}
	file := must.Have(table.Open(corrected, table.Options{}))(t)
	rows, err := file.Load()
	if err != nil || rows.Len() != 300 || rows.ID(7) != "photo-8" {
		t.Fatalf("%s: %v", corrected, err)
	}
	file.Close()
	for _, want := range [][2]string{{"table.json", `"target_share_joint_low"`}, {"table.json", `"verdict": "the test found nothing against label shift (p = `}} {
		if content, err := os.ReadFile(want[0]); err != nil || !strings.Contains(string(content), want[1]) {
			t.Errorf("%s has no %q: %v", want[0], want[1], err)
		}
	}
}

// The end of the table's name says its format, if --format does not.
func TestLabelShiftFormatOfFile(t *testing.T) {
	inPhotos(t, 60, 60)
	begins := map[string]string{"md": "# Class shares", "csv": "experiment,", "json": "{\n"}
	for _, test := range [][2]string{
		{"-o t.csv", "csv"}, {"-o t.CSV", "csv"}, {"-o t.json", "json"}, {"-o t.md", "md"},
		{"-o t.csv --format csv", "csv"},
		{"-o t.txt --format csv", "csv"}, {"-o t --format csv", "csv"}, {"-o t.dat --format json", "json"},
	} {
		status, out, said := callLine(t, onPhotos+" --replicas 0 "+test[0])
		content, err := os.ReadFile(strings.Fields(test[0])[1])
		if status != 0 || out != "" || err != nil || !strings.HasPrefix(string(content), begins[test[1]]) {
			t.Errorf("%s: status %d, stderr %q, error %v, no %s:\n%.40s", test[0], status, said, err, test[1], content)
		}
	}
}

// Rows of any kind have an answer in finite numbers by every estimator, of which the
// shares sum to 1, and intervals of each kind.
func TestLabelShiftOfHardCases(t *testing.T) {
	each := func(rows []row, change func(r *row)) []row {
		for i := range rows {
			rows[i].probabilities = append([]float64(nil), rows[i].probabilities...)
			change(&rows[i])
		}
		return rows
	}
	certain := func(r *row) {
		largest := 0
		for j, p := range r.probabilities {
			if p > r.probabilities[largest] {
				largest = j
			}
		}
		clear(r.probabilities)
		r.probabilities[largest] = 1
	}
	for name, change := range map[string]func(source, target []row) ([]row, []row){
		"a class never predicted": func(source, target []row) ([]row, []row) {
			never := func(r *row) {
				p := r.probabilities
				p[0], p[2] = p[0]+p[2]*0.99, p[2]*0.01
				if p[2] > 0 && p[1] < p[2] {
					p[0], p[1], p[2] = 0.9, 0.09, 0.01
				}
			}
			return each(source, never), each(target, never)
		},
		"a class absent from the target": func(source, target []row) ([]row, []row) {
			var without []row
			for _, r := range target {
				if r.probabilities[2] < 0.05 {
					without = append(without, r)
				}
			}
			return source, without
		},
		"50 rows":               func(source, target []row) ([]row, []row) { return source[:50], target[:50] },
		"one row of the target": func(source, target []row) ([]row, []row) { return source, target[:1] },
		"probabilities 0 and 1": func(source, target []row) ([]row, []row) { return each(source, certain), each(target, certain) },
		"a source without errors": func(source, target []row) ([]row, []row) {
			return each(source, func(r *row) { clear(r.probabilities); r.probabilities[r.label] = 1 }), each(target, certain)
		},
		"C singular": func(source, target []row) ([]row, []row) {
			alike := func(r *row) { r.probabilities = []float64{0.5, 0.3, 0.2} }
			return each(source, alike), each(target, alike)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			source, target := change(photos(300, 300))
			writePredictions(t, "source.csv", animals, source, true)
			writePredictions(t, "target.csv", animals, target, false)
			for _, flags := range []string{"", " --replicas 0", " --calibration none --estimator bbse-hard"} {
				answers(t, onPhotos+" --replicas 30"+flags, 3)
			}
		})
	}
	t.Run("one class", func(t *testing.T) {
		t.Chdir(t.TempDir())
		one := []row{{[]float64{1}, 0}, {[]float64{1}, 0}, {[]float64{1}, 0}}
		writePredictions(t, "source.csv", animals[:1], one, true)
		writePredictions(t, "target.csv", animals[:1], one, false)
		for _, flags := range []string{"", " --replicas 0"} {
			answers(t, onPhotos+flags, 1)
		}
	})
}

// answers fails unless the command line succeeds and its shares are finite and sum to 1.
func answers(t *testing.T, line string, classes int) {
	t.Helper()
	status, out, said := callLine(t, line+" --format csv")
	if status != 0 {
		t.Fatalf("%s: status %d, stderr %q", line, status, said)
	}
	records, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(records) < 1+classes {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	var sum float64
	answered := 0
	for _, record := range records[1:] {
		for column, text := range record {
			value, err := strconv.ParseFloat(text, 64)
			if err == nil && (math.IsNaN(value) || math.IsInf(value, 0) || value < 0) {
				t.Errorf("%s: %s is %v", line, records[0][column], value)
			}
			if err == nil && records[0][column] == "target_share" {
				sum += value
				answered++
			}
		}
	}
	if answered == 0 || math.Abs(sum-float64(answered/classes)) > 1e-6 {
		t.Errorf("%s: %d shares sum to %v\n%s", line, answered, sum, out)
	}
}

// Probabilities of three digits are answered as those of all digits, whatever a row sums to.
func TestLabelShiftOfRoundedProbabilities(t *testing.T) {
	inPhotos(t, 200, 200)
	source, target := photos(200, 200)
	for _, rows := range [][]row{source, target} {
		for _, r := range rows {
			for j, p := range r.probabilities {
				r.probabilities[j] = math.Round(p*1000) / 1000
			}
		}
	}
	writePredictions(t, "source.csv", animals, source, true)
	writePredictions(t, "target.csv", animals, append(target, row{[]float64{0.5, 0.3, 0.201}, 0}), false)
	answers(t, onPhotos+" --calibration none", 3)
}

// What cannot be answered is an error that says where it lies.
func TestLabelShiftErrors(t *testing.T) {
	inPhotos(t, 200, 200)
	source, target := photos(200, 200)
	var owlless []row
	for _, r := range source {
		if r.label != 2 {
			owlless = append(owlless, r)
		}
	}
	writePredictions(t, "owlless.csv", animals, owlless, true)
	unequal := []row{target[0], {[]float64{0.5, 0.3, 0.1}, 0}}
	writePredictions(t, "unequal.csv", animals, unequal, false)
	writePredictions(t, "others.csv", []string{"cat", "dog", "cow"}, target, false)
	writePredictions(t, "wider.csv", []string{"cat", "dog", "owl", "cow"}, []row{{[]float64{0.1, 0.2, 0.3, 0.4}, 0}}, false)
	testfiles.Write(t, "features.csv", "a,b,c\n1,2,0\n")
	testfiles.Write(t, "raw.csv", "x,y,label\n1,2,x\n3,4,y\n")
	testfiles.Write(t, "logits.csv", "logit_cat,logit_dog,logit_owl\n1,2,3\n")
	testfiles.Write(t, "l.npy", "labels")
	must.Do(t, errors.Join(os.Mkdir("finished", 0o777), os.Symlink("logits.csv", "link.csv")))
	testfiles.Write(t, "finished/outputs.safetensors", "logits")
	for line, want := range map[string][]string{
		"labelshift owlless.csv target.csv":                               {"owlless.csv", `"owl"`},
		"labelshift source.csv unequal.csv":                               {"unequal.csv:3", "sum to 0.9, not 1; divide each row by its sum"},
		"labelshift source.csv others.csv":                                {"others.csv", "cow", "source.csv"},
		"labelshift source.csv wider.csv":                                 {"wider.csv", "4", "source.csv"},
		"labelshift target.csv target.csv":                                {"target.csv: no labels"},
		"labelshift source.csv features.csv":                              {"features.csv", "--kind logits", "iwrun adapt"},
		"labelshift raw.csv target.csv":                                   {"raw.csv", "--kind logits", "iwrun adapt"},
		"labelshift source.csv logits.csv":                                {"logits.csv holds logits"},
		"labelshift source.csv missing.csv":                               {"missing.csv"},
		onPhotos + " --train-shares missing.csv":                          {"missing.csv"},
		"labelshift":                                                      {"SOURCE and TARGET are needed", "Usage"},
		"labelshift source.csv":                                           {"SOURCE and TARGET are needed", "Usage"},
		onPhotos + " more.csv":                                            {`"more.csv"`, "Usage"},
		onPhotos + " --estimator bbse":                                    {"bbse-hard", "Usage"},
		onPhotos + " --calibration platt":                                 {"bcts", "Usage"},
		onPhotos + " --level 95":                                          {"between 0 and 1", "Usage"},
		onPhotos + " --replicas 1":                                        {"1 replicas", "Usage"},
		onPhotos + " --kind odds":                                         {"probabilities or logits", "Usage"},
		onPhotos + " --corrected c.txt":                                   {"c.txt", ".csv", "Usage"},
		onPhotos + " --corrected target.csv":                              {"written over", "Usage"},
		onPhotos + " --output ./features.csv --train-shares features.csv": {"written over", "Usage"},
		"labelshift p.npy target.csv --labels l.npy -o l.npy":             {"written over", "Usage"},
		"labelshift --run finished --output finished/outputs.safetensors": {"written over", "Usage"},
		"labelshift features.csv logits.csv -o link.csv":                  {"written over", "Usage"},
		onPhotos + " --format xls":                                        {"xls", "Usage"},
		onPhotos + " -o t.xlsx":                                           {"t.xlsx", ".csv", "--format", "Usage"},
		onPhotos + " -o t":                                                {"-o t:", ".csv", "--format", "Usage"},
		onPhotos + " -o t.csv --format json":                              {"-o t.csv", "--format json", "Usage"},
		onPhotos + " --estimater mlls":                                    {"--estimator?", "Usage"},
	} {
		status, out, said := callLine(t, line)
		if status == 0 || out != "" {
			t.Errorf("%s: status %d, stdout %q", line, status, out)
		}
		for _, part := range want {
			if !strings.Contains(said, part) {
				t.Errorf("%s: stderr %q lacks %q", line, said, part)
			}
		}
	}
}

// A logit that would decide the calibration alone is an error with its row, class and value; that of
// a class that is ruled out is none, nor is any without a calibration.
func TestLabelShiftOfOneHugeLogit(t *testing.T) {
	source, target := photos(200, 200)
	logitsOf := func(rows []row, labelled bool) (lines []string) {
		lines = append(lines, "logit_cat,logit_dog,logit_owl,label")
		for _, r := range rows {
			line, label := "", ""
			for _, p := range r.probabilities {
				line += fmt.Sprint(math.Log(p)) + ","
			}
			if labelled {
				label = animals[r.label]
			}
			lines = append(lines, line+label)
		}
		return lines
	}
	t.Chdir(t.TempDir())
	testfiles.Write(t, "target.csv", strings.Join(logitsOf(target, false), "\n")+"\n")
	lines := logitsOf(source, true)
	lines[1] = "1,2,3," // no label: left out, and the others keep their numbers
	for odd, want := range map[string]string{
		"0.5,1e30,0.1,cat": `source.csv: row 4 gives class "dog" the logit 1e+30, 1e+30 away from the row's others`,
		"-1e9,0.5,0.1,cat": `source.csv: row 4 gives class "cat" the logit -1e+09, 1e+09 away`,
		"0.5,-1e9,0.1,cat": "",
	} {
		lines[5] = odd
		testfiles.Write(t, "source.csv", strings.Join(lines, "\n")+"\n")
		if status, _, said := callLine(t, onPhotos+" --replicas 0"); (status == 0) != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%s: status %d, stderr %q, want %q", odd, status, said, want)
		}
		if status, _, said := callLine(t, onPhotos+" --replicas 0 --calibration none"); status != 0 {
			t.Errorf("%s without calibration: status %d, stderr %q", odd, status, said)
		}
	}
}

// A row whose classes are all absent from the target has no corrected probabilities: that
// is an error with its number, after the table.
func TestLabelShiftWithoutCorrection(t *testing.T) {
	t.Chdir(t.TempDir())
	var source, target []row
	for range 10 {
		cat, dog, owl := []float64{1, 0, 0}, []float64{0, 1, 0}, []float64{0, 0, 1}
		source = append(source, row{cat, 0}, row{owl, 0}, row{dog, 1}, row{owl, 2})
		target = append(target, row{probabilities: cat})
	}
	target[7].probabilities = []float64{0, 0, 1}
	writePredictions(t, "source.csv", animals, source, true)
	writePredictions(t, "target.csv", animals, target, false)
	status, out, said := callLine(t, onPhotos+" --calibration none --estimator bbse-hard --replicas 0 --corrected c.csv")
	if status != 1 || !strings.Contains(out, "| owl   | 0.2500 | 0.0000 |") || !strings.Contains(said, "target.csv: row 7 has probability 0") {
		t.Errorf("status %d, stdout %q, stderr %q", status, out, said)
	}
	if _, err := os.Stat("c.csv"); !os.IsNotExist(err) {
		t.Errorf("c.csv: %v", err)
	}
}

// A classifier that says the same of every row tells no class shares: their intervals are
// open, and the page says why.
func TestLabelShiftThatPredictionsLeaveOpen(t *testing.T) {
	t.Chdir(t.TempDir())
	testfiles.Write(t, "source.csv", "label,cat,dog\n"+strings.Repeat("cat,0.6,0.4\ndog,0.6,0.4\n", 40))
	testfiles.Write(t, "target.csv", "cat,dog\n"+strings.Repeat("0.6,0.4\n", 50))
	for _, estimator := range []string{"mlls", "qp", "bbse-soft"} {
		status, out, said := callLine(t, onPhotos+" --kind probabilities --replicas 60 --format csv --estimator "+estimator)
		if want := ",0,1,"; status != 0 || strings.Count(out, want) < 2 {
			t.Errorf("%s: status %d, %s: %q is not in both rows of\n%s", estimator, status, said, want, out)
		}
		_, out, _ = callLine(t, onPhotos+" --kind probabilities --replicas 60 --estimator "+estimator)
		if text := strings.Join(strings.Fields(out), " "); !strings.Contains(text, "other class shares explain the predictions as well") || !strings.Contains(text, "too few different predictions") {
			t.Errorf("%s: nothing is said of it:\n%s", estimator, out)
		}
	}
}
