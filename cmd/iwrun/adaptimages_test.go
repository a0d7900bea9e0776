package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// drawImages writes source/red, of 36 images, and source/blue, of 12, and 200 images
// without labels, most of them blue, into target/. It returns the classes of these by their
// paths.
func drawImages(t *testing.T) (truth map[string]string) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	draw := func(path, class string) {
		m := image.NewRGBA(image.Rect(0, 0, 24, 24))
		for y := range 24 {
			for x := range 24 {
				noise := func(mean int) uint8 { return uint8(mean + random.IntN(40)) }
				c := color.RGBA{noise(150), noise(60), noise(60), 255}
				if class == "blue" {
					c.R, c.B = c.B, c.R
				}
				m.Set(x, y, c)
			}
		}
		testfiles.MakeFolder(t, filepath.Dir(path))
		file := must.Have(os.Create(path))(t)
		must.Do(t, png.Encode(file, m))
		must.Do(t, file.Close())
	}
	for i := range 48 {
		class := "red"
		if i%4 == 0 {
			class = "blue"
		}
		draw(filepath.Join("source", class, fmt.Sprintf("%d.png", i)), class)
	}
	truth = map[string]string{}
	for i := range 200 {
		class := "blue"
		if i%10 == 0 {
			class = "red"
		}
		path := filepath.Join("target", fmt.Sprintf("%03d.png", i))
		draw(path, class)
		truth[fmt.Sprintf("%03d.png", i)] = class
	}
	return truth
}

// TestAdaptImages goes from folders of images to predictions of 200 without labels, through
// a ResNet that is trained from scratch and through a frozen TorchScript module; what
// iwrun predict says of them with the model that is left is the same.
func TestAdaptImages(t *testing.T) {
	script := must.Have(filepath.Abs("../../testdata/torchscript/backbone.pt"))(t)
	t.Chdir(t.TempDir())
	truth := drawImages(t)
	for name, set := range map[string][]string{
		"resnet18":    {"network={name: resnet18, pretrained: none, frozen: false, views: 0}", "train.steps=8", "train.eval_every=8"},
		"torchscript": {"network={name: torchscript, file: " + script + "}", "train.steps=200", "train.eval_every=100", "train.optimizer.lr=0.02"},
	} {
		t.Run(name, func(t *testing.T) {
			line := []string{"adapt", "--source", "source", "--target", "target", "-o", name, "--device", "cpu",
				"--set", "dataset={resize: 24, crop: 20}", "--set", "methods=[source-only, iwdan]", "--set", "seeds=[1]", "--set", "train.batch=16", "--set", "train.validation=0.3"}
			for _, assignment := range set {
				line = append(line, "--set", assignment)
			}
			status, out, text := call(t, line...)
			if status != 0 || !strings.Contains(text, "source      48 images, 2 classes; the rarest is \"blue\" with 12 images\ntarget      200 images, without labels\n") {
				t.Fatalf("status %d\n%s\n%s", status, out, text)
			}
			right := 0
			predictions := readCSV(t, filepath.Join(name, "predictions.csv"))
			for _, line := range predictions {
				if line["predicted_class"] == truth[line["id"]] {
					right++
				}
			}
			if len(predictions) != 200 || right < 190 {
				t.Errorf("%d of %d predictions are right", right, len(predictions))
			}
			// Nine in ten, although class weights are not updated in so few steps.
			classes := readCSV(t, filepath.Join(name, "classes.csv"))
			if share, err := strconv.ParseFloat(classes[0]["target_share"], 64); classes[0]["class"] != "blue" || math.Abs(share-0.9) > 0.1 {
				t.Errorf("classes %v, %v", classes, err)
			}
			commandLine := []string{"predict", name, "target", "-o", "again.csv", "--device", "cpu"}
			if name == "torchscript" {
				if status, _, text := call(t, commandLine...); status != 2 || !strings.Contains(text, "backbone.pt is a TorchScript module, a program that would be run") {
					t.Errorf("without --run-module: status %d\n%s", status, text)
				}
				if status, _, text := call(t, "export", name, "-o", "copy"); status != 2 || !strings.Contains(text, "add --run-module") {
					t.Errorf("export without --run-module: status %d\n%s", status, text)
				}
				commandLine = append(commandLine, "--run-module")
			}
			status, out, text = call(t, commandLine...)
			if status != 0 || !samePredictions(t, "again.csv", readFile(t, filepath.Join(name, "predictions.csv"))) {
				t.Errorf("status %d: other predictions than those of iwrun adapt\n%s\n%s", status, out, text)
			}
			if name == "torchscript" {
				if status, _, text := call(t, "export", name, "--run-module", "--onnx", "model.onnx"); status == 0 || !strings.Contains(text, "TorchScript module") {
					t.Errorf("export: status %d\n%s", status, text)
				}
				if _, err := os.Stat(filepath.Join(name, "model", "backbone.pt")); err != nil {
					t.Error(err)
				}
				refusesModules(t, name, script, line[:9])
			}
		})
	}
}

// refusesModules asks the commands that would run the module of an adaptation's runs, which lies
// outside its folder, and adapt itself where the folder's experiment.yaml alone names it.
func refusesModules(t *testing.T, folder, module string, again []string) {
	t.Helper()
	run := filepath.Join(folder, "runs", "adapt", "full", "source-target", "iwdan", "seed-1")
	must.Have(os.Stat(run))(t)
	ask := module + " is a TorchScript module, a program that would be run"
	labelled := filepath.Join(t.TempDir(), "labels.csv")
	testfiles.Write(t, labelled, "id,label\n000.png,red\n001.png,blue\n002.png,blue\n")
	evaluate := []string{"evaluate", folder, labelled, "--device", "cpu"}
	for _, line := range [][]string{
		{"predict", run, "target", "-o", "run.csv"}, {"predict", run, "target", "-o", "run.csv", "--run-module"},
		{"export", run, "-o", "other"}, append(evaluate, "--choose"), append(evaluate, "--choose", "--run-module"), again,
	} {
		if status, out, text := call(t, line...); status != 2 || out != "" || !strings.Contains(text, ask) || !strings.Contains(text, "add --module "+module) {
			t.Errorf("%q: status %d\n%s\n%s", line, status, out, text)
		}
	}
	if status, out, text := call(t, evaluate...); status != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), "The methods cannot be evaluated: "+ask) {
		t.Errorf("evaluate: status %d\n%s\n%s", status, out, text)
	}
	for _, line := range [][]string{{"predict", run, "target", "-o", "run.csv"}, evaluate, again} {
		if status, out, text := call(t, append(line, "--module", module)...); status != 0 || strings.Contains(out, "cannot be evaluated") {
			t.Errorf("%q with --module: status %d\n%s\n%s", line, status, out, text)
		}
	}
}

// Without a ResNet's weights there is one error before anything is begun, which says what can be done;
// a small network needs none.
func TestAdaptImagesWithoutWeights(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("IWDA_DATA", "nowhere")
	truth := drawImages(t)
	for _, line := range [][]string{{"adapt", "source", "target", "-o", "out", "--device", "cpu"}, {"adapt", "source", "target", "--dry-run"}, {"check-data", "source", "target"}} {
		status, _, text := call(t, line...)
		if status != 2 || strings.Count(text, "nowhere/weights/resnet50-19c8e357.pth") != 2 || !strings.Contains(text, "https://download.pytorch.org/models/resnet50-19c8e357.pth\n") ||
			!strings.Contains(text, "--network small") || !strings.Contains(text, ".npz") {
			t.Errorf("%s: status %d\n%s", line[0], status, text)
		}
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("a folder was made")
	}
	if status, out, text := call(t, "check-data", "source", "target", "--network", "small"); status != 0 || !strings.Contains(out, `source: 48 images of 2 classes: "red" 36, "blue" 12`) {
		t.Errorf("status %d\n%s\n%s", status, out, text)
	}
	testfiles.Write(t, "source/notes.txt", "")
	status, out, text := call(t, "adapt", "source", "target", "-o", "out", "--device", "cpu", "--network", "small",
		"--set", "methods=[source-only]", "--set", "seeds=[1]", "--set", "train.steps=60", "--set", "train.eval_every=30", "--set", "train.batch=16", "--set", "train.validation=0.3")
	if status != 0 {
		t.Fatalf("status %d\n%s\n%s", status, out, text)
	}
	if !strings.Contains(strings.Join(strings.Fields(text), " "), "files that are ignored: 1 .txt;") || strings.Contains(text, "columns  ") {
		t.Errorf("files that are passed over:\n%s", text)
	}
	right := 0
	predictions := readCSV(t, filepath.Join("out", "predictions.csv"))
	for _, line := range predictions {
		if class := truth[line["id"]]; line["class"] == class || line["predicted_class"] == class {
			right++
		}
	}
	if len(predictions) != 200 || right < 190 {
		t.Errorf("%d of %d predictions are right", right, len(predictions))
	}
	testfiles.Write(t, "target/other.gif", "")
	if status, _, text := call(t, "predict", "out", "target", "-o", "again.csv", "--device", "cpu"); status != 0 || !strings.Contains(text, "files that are ignored: 1 .gif") || !samePredictions(t, "again.csv", readFile(t, filepath.Join("out", "predictions.csv"))) {
		t.Errorf("status %d: other predictions than those of iwrun adapt\n%s", status, text)
	}
	if status, _, text := call(t, "export", "out", "--onnx", "model.onnx"); status != 0 {
		t.Errorf("export: status %d\n%s", status, text)
	}
	if status, _, text := call(t, "adapt", "source", "target", "-o", "other", "--network", "huge"); status != 2 || !strings.Contains(text, "--network huge: there is small") {
		t.Errorf("status %d\n%s", status, text)
	}
}
