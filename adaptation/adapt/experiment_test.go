package adapt

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"iwda/datasets/catalogue"
	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/config"
	"iwda/experiments/engine"
	"iwda/experiments/plan"
	"iwda/internal/must"
)

// seen is what Look says of domains of that size.
func seen(kind catalogue.Kind, source, target int) Data {
	return Data{
		Kind: kind, Width: 64, Classes: []string{"cat", "dog"},
		Source: Domain{Files: catalogue.Files{Domain: "source", Path: "/data/photos: \"new\".npz"}, Rows: source, Counts: []int{source - 5, 5}},
		Target: Domain{Files: catalogue.Files{Domain: "target", Path: "/data/sketches.npz"}, Rows: target, Counts: []int{0, 0}},
	}
}

// parse returns the experiment of the data.
func parse(t *testing.T, d Data) *config.File {
	t.Helper()
	text := must.Have(d.Experiment(Options{}))(t)
	file, err := config.Parse("experiment.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return file
}

// The file resolves to what is trained: a linear classifier and trees, boosted if there are few values, each once, and
// four networks with two starts, rows held out, and steps enough whatever the size of the data.
func TestExperiment(t *testing.T) {
	for _, size := range []struct{ source, target, batch, epochs, classifiers int }{
		{20, 7, 2, 266, 3}, {600, 600, 64, 266, 3}, {300, 1000, 64, 160, 3}, {20000, 20000, 128, 23, 2}, {1_000_000, 10, 128, 8, 2},
	} {
		file := parse(t, seen(catalogue.Vectors, size.source, size.target))
		runs := must.Have(runsOf(file))(t)
		if chosen := file.Config.Selection; len(runs) != size.classifiers+8 || chosen.Rule != "" || len(chosen.SameMeaning) != size.classifiers+2 || len(chosen.ColumnsMoved) != size.classifiers+3 {
			t.Errorf("%d runs, chosen by %+v", len(runs), chosen)
		}
		for _, run := range runs {
			c := run.Config
			if c.Train.Batch != size.batch || c.Train.Epochs != size.epochs || c.Train.Validation != 0.1 {
				t.Errorf("%+v: batch %d, %d epochs, validation %v, %s", size, c.Train.Batch, c.Train.Epochs, c.Train.Validation, c.Network.Normalise)
			}
			want := config.Network{Name: "mlp", Features: 256, Layers: 1, Normalise: normalise.OfSource}
			switch {
			case strings.HasSuffix(c.Method, "@own"):
				want.Normalise = normalise.Standard
			case strings.HasSuffix(c.Method, "@matched"):
				want.Normalise = normalise.Matched
			case strings.HasPrefix(c.Method, "source-only@"):
				want.Name, want.Features, want.Layers = strings.TrimPrefix(c.Method, "source-only@"), 0, 0
			}
			if c.Network != want {
				t.Errorf("%s: %+v", c.Method, c.Network)
			}
			if sources, target := c.Domains(); !slices.Equal(sources, []string{"source"}) || target != "target" || c.Dataset.Domains[0].Path != "/data/photos: \"new\".npz" {
				t.Errorf("%s and %s of %v", sources, target, c.Dataset.Domains)
			}
			if c.Discriminator.Normalise != config.SharedScale || c.Discriminator.Dropout != 0 {
				t.Errorf("the discriminator, of the recipe and with one scale for a batch, is %+v", c.Discriminator)
			}
		}
	}
}

// A table has few columns, those of words counted once, and what aligns nothing predicts.
func TestExperimentOnATable(t *testing.T) {
	for width, words := range map[int]int{13: 0, 47: 0, 300: 20} {
		d := seen(catalogue.Vectors, 600, 500)
		d.Width, d.Learnt.Encoding = width, make(table.Encoding, words)
		file := parse(t, d)
		runs, err := plan.Runs(file)
		if chosen := file.Config.Selection; err != nil || len(runs) != 6 || !slices.Equal(chosen.SameMeaning, []string{"source-only@linear", "source-only@perceptron", "source-only@forest", "source-only@boosting"}) || !slices.Equal(chosen.ColumnsMoved, file.Config.Methods) || runs[2].Config.Network.Name != "forest" || runs[5].Config.Network.Name != "boosting" || runs[5].Config.Network.Normalise != normalise.Standard || runs[3].Config.Network.Normalise != normalise.OfSource {
			t.Errorf("%d values: %d runs, chosen by %+v, %v", width, len(runs), chosen, err)
		}
	}
	d := seen(catalogue.Vectors, 600, 500)
	for form, is := range map[string]bool{"": false, Table: true, Array: false} {
		if d.Form = form; d.table() != is {
			t.Errorf("64 columns, said to be %q: a table is %v", form, !is)
		}
	}
	images := seen(catalogue.ImageFiles, 600, 500)
	images.Form = Table
	must.Refuse(images.Experiment(Options{}))(t, "not for images")
}

// If it is known that only class shares differ, nothing is trained that takes columns to have moved. The
// same can be said to an experiment that is there, but not of images.
func TestExperimentOfLabelShift(t *testing.T) {
	for width, methods := range map[int][]string{13: {"source-only@linear", "source-only@perceptron", "source-only@forest", "source-only@boosting"}, 64: {"source-only@linear", "source-only@forest", "source-only@boosting", "source-only", "mcc"}} {
		d := seen(catalogue.Vectors, 600, 500)
		d.Width, d.Columns.Clipped = width, []int{3}
		text := must.Have(d.Experiment(Options{LabelShift: true}))(t)
		file, err := config.Parse("experiment.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if c := file.Config; !c.Selection.LabelShift || !slices.Equal(c.Methods, methods) || len(c.Selection.ColumnsMoved) > 0 || c.Network.Clip != 0 || strings.Contains(string(text), "@own") {
			t.Errorf("%s", text)
		}
		there := parse(t, d)
		if err := there.Set([]string{"selection.label_shift=true"}); err != nil || !there.Config.Selection.LabelShift {
			t.Error(err)
		}
	}
	must.Refuse(seen(catalogue.ImageFiles, 200, 200).Experiment(Options{LabelShift: true}))(t, "--label-shift is for rows of features")
}

// Without iwrun-torch an array has the methods that make no steps, unless others are asked for. It is looked for once
// it is needed.
func TestWithoutTorch(t *testing.T) {
	looked := filepath.Join(t.TempDir(), "looked")
	t.Setenv(engine.Variable, "")
	t.Setenv(engine.Maker, `["touch", "`+looked+`"]`)
	array, few := seen(catalogue.Vectors, 600, 500), seen(catalogue.Vectors, 600, 500)
	few.Width = 2
	for _, c := range []struct {
		data                 Data
		set                  []string
		looked, warns, steps bool
	}{
		{array, nil, true, true, false},
		{array, []string{"methods=[source-only@linear]"}, false, false, false},
		{array, []string{"methods=[mcc]"}, true, true, true},
		{few, nil, false, false, false},
		{few, []string{"methods=[mcc]"}, false, false, true},
	} {
		os.Remove(looked)
		p, err := newPlan(c.data, Options{Folder: t.TempDir(), Set: c.set, Torch: new(engine.Process)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(looked)
		warnings := strings.Join(p.Warnings, "\n")
		if (err == nil) != c.looked || plan.AnySteps(p.Runs) != c.steps || strings.Contains(warnings, "No method aligns the domains, and how much one would have changed is not known: aligning domains needs iwrun-torch") != c.warns {
			t.Errorf("%d columns, %q: %v, %s\n%s", c.data.Width, c.set, err, warnings, p.Text)
		}
		if text := string(p.Text); c.warns && !c.steps && !strings.Contains(text, "\nmethods: [source-only@linear, source-only@perceptron, source-only@forest, source-only@boosting]\n") {
			t.Error(text)
		}
	}
}

// Images take a frozen backbone and are counted in steps.
func TestExperimentOnImages(t *testing.T) {
	d := seen(catalogue.ImageFiles, 200, 200)
	d.Source.Path, d.Target.Path = "/data/photos", "/data/sketches"
	file := parse(t, d)
	runs, err := plan.Runs(file)
	if err != nil {
		t.Fatal(err)
	}
	if c := runs[8].Config; c.Network.Name != "resnet50" || !c.Network.Frozen || c.Train.Steps == 0 || c.Train.Steps%c.Train.EvalEvery != 0 || c.Method != "iwcdan" || !strings.Contains(trainedViews(c.Dataset), "mirrored half of the time; set dataset.mirror=false") {
		t.Errorf("%+v", c)
	}
	text := must.Have(d.Experiment(Options{Network: SmallNetwork}))(t)
	if file, err = d.parse("experiment.yaml", text, nil); err != nil || trainedViews(file.Config.Dataset) != "training sees a random part of each image, never mirrored" {
		t.Errorf("%v\n%s", err, text)
	}
}

// Everything that was chosen has a reason beside it.
func TestExperimentSaysWhy(t *testing.T) {
	text := must.Have(seen(catalogue.Vectors, 600, 500).Experiment(Options{}))(t)
	for _, part := range []string{
		"# Source: 600 rows of 64 values, 2 classes; the rarest, \"dog\", has 5.\n", "# Target: 500 rows without labels.\n",
		"\nmethods: [source-only@linear, source-only@forest, source-only@boosting, source-only, mcc, iwcdan@own, iwcdan@matched]\n", "\nseeds: [1, 2] #", "  alike: [source-only@linear, source-only@forest, source-only@boosting, source-only, mcc]\n",
		"\nnetwork: {name: mlp, features: 256, layers: 1, normalise: source}\n",
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

// IWCDAN's discriminator sees all products of features and classes, as long as these are few.
func TestProducts(t *testing.T) {
	for classes, want := range map[int]string{
		2: "random_projection: 0 # iwcdan sees all products of 2 classes × 256 features\n", 20: "random_projection: 0 #",
		21: "random_projection: 1024 # random products for iwcdan, instead of all those of 21 classes × 256 features\n",
	} {
		d := seen(catalogue.Vectors, 6000, 500)
		for class := 2; class < classes; class++ {
			d.Classes = append(d.Classes, strconv.Itoa(class))
			d.Source.Counts, d.Target.Counts = append(d.Source.Counts, 5), append(d.Target.Counts, 0)
		}
		text, err := d.Experiment(Options{})
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%d classes: %v, %q is not in\n%s", classes, err, want, text)
		}
		parse(t, d)
	}
}

// Steps that are asked for: as near as whole epochs come, the rate and the reversal with
// them, and the same by assignments to a file of another length.
func TestLength(t *testing.T) {
	features, images := seen(catalogue.Vectors, 10000, 4000), seen(catalogue.ImageFiles, 200, 200)
	many := seen(catalogue.Vectors, 10000, 4000) // of 345 classes, each of which needs its steps
	for class := 2; class < 345; class++ {
		many.Classes = append(many.Classes, strconv.Itoa(class))
		many.Source.Counts, many.Target.Counts = append(many.Source.Counts, 5), append(many.Target.Counts, 0)
	}
	wide := func(columns int) Data { // whose steps take longer
		d := features
		d.Width = columns
		return d
	}
	images.Source.Path, images.Target.Path = "/data/photos", "/data/sketches"
	for _, c := range []struct {
		data                        Data
		steps                       int
		epochs, total, every, ramps int
	}{
		{features, 0, 51, 0, 17, 3570}, {features, 2400, 34, 0, 11, 2380}, {features, 10, 3, 0, 1, 210},
		{seen(catalogue.Vectors, 4000, 4000), 0, 77, 0, 25, 2387}, {wide(750), 0, 27, 0, 9, 1890}, {wide(2048), 0, 17, 0, 5, 1190},
		{many, 0, 53, 0, 17, 3551}, {many, 1200, 17, 0, 5, 1139},
		{images, 0, 0, 2000, 200, 2000}, {images, 5009, 0, 5000, 500, 5000}, {images, 3, 0, 10, 1, 10},
	} {
		text := must.Have(c.data.Experiment(Options{Steps: c.steps}))(t)
		file, err := config.Parse("experiment.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		assigned := parse(t, c.data)
		must.Do(t, assigned.Set(c.data.lengthSet(c.steps)))
		for _, f := range []*config.File{file, assigned} {
			run := must.Have(f.Resolve("source-target", "full", "iwdan", 1))(t)
			tr := run.Train
			if c.data.Kind != catalogue.Vectors {
				tr.Schedule.Every = tr.EvalEvery
			}
			if tr.Epochs != c.epochs || tr.Steps != c.total || tr.Schedule.Every != c.every || run.Discriminator.Reversal.Iterations != c.ramps {
				t.Errorf("%d steps of %v: %d epochs, %d steps, every %d, reversal over %d", c.steps, c.data.Kind, tr.Epochs, tr.Steps, tr.Schedule.Every, run.Discriminator.Reversal.Iterations)
			}
		}
	}
}

// An assignment has columns normalised in its way however it is written.
func TestAskedFor(t *testing.T) {
	for set, want := range map[string]string{
		"network.normalise=own": "own", `network.normalise="none"`: "none", "network={name: mlp, normalise: own}": "own", "network={normalise: 'none'}": "none", "network.features=8": "",
	} {
		if got := askedFor([]string{set}); got != want {
			t.Errorf("%s: %q, want %q", set, got, want)
		}
	}
}
