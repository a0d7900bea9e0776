package train

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/domains"
	"iwda/experiments/measure"
	savedmodel "iwda/experiments/model"
	"iwda/experiments/network"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/nets"
	"iwda/torch"
)

const scripts = "../../testdata/torchscript"

// backbones are assignments that put a TorchScript module in the place of the network: one
// of images, with dropout and normalisation, and one of two numbers, with normalisation.
var (
	imageBackbone  = "network={name: torchscript, file: " + scripts + "/backbone.pt}"
	vectorBackbone = "network={name: torchscript, file: " + scripts + "/vectors.pt}"
)

// A run with a backbone of the user's own ends with the same bits when it is interrupted,
// trains the backbone exactly where it is not frozen, and is a model that predicts what
// the run does.
func TestTorchScriptRuns(t *testing.T) {
	office := drawOffice(t, 2)
	short := []string{"train.steps=4", "train.eval_every=2", imageBackbone}
	for name, test := range map[string]struct {
		run    config.Resolved
		length int // of a piece, in looks at the context
	}{
		"images, trained":          {resolveOffice(t, office, "full", "iwdan", short...), 6},
		"images, frozen":           {resolveOffice(t, office, "full", "iwjan", short...), 9},
		"images, frozen, in views": {resolveOffice(t, office, "full", "iwjan", append(short, "network.views=2")...), 8},
		"rows, trained":            {ownRun(t, "iwdan", nil, vectorBackbone), 9},
		"rows, frozen":             {ownRun(t, "iwcdan", nil, vectorBackbone, "network.frozen=true"), 9},
	} {
		t.Run(name, func(t *testing.T) {
			whole, _ := train(t, test.run)
			dir, pieces := finishInPieces(t, test.run, test.length, Options{Threads: 1})
			if pieces < 3 {
				t.Errorf("only %d pieces", pieces)
			}
			if diff := outcomeOf(t, whole).diff(outcomeOf(t, dir)); diff != "" {
				t.Errorf("in %d pieces the run ends otherwise:\n%s", pieces, diff)
			}
			torch.Tidy(func() { wantTrained(t, test.run, dir) })
		})
	}
}

// wantTrained opens the run's model and compares its backbone with the file's, and its
// logits with the run's own.
func wantTrained(t *testing.T, run config.Resolved, dir store.Dir) {
	t.Helper()
	m := must.Have(savedmodel.Trust{Files: []string{run.Network.File}}.Open(dir.String()))(t)
	file, _ := must.Both(nets.NewTorchScript(run.Network.File, m.Input.Shape, false, nil))(t)
	opens := networkOf(t, m)
	backbone := opens.(nets.Grouped).Backbone()
	for i, e := range file.State() {
		values := func(x torch.Tensor) []float64 { return torch.ToSlice[float64](x.To(torch.Float64, torch.CPU)) }
		same := slices.Equal(values(e.Tensor), values(backbone[i].Tensor))
		if backbone[i].Name != "backbone."+e.Name || same != run.Network.Frozen {
			t.Errorf("%s, the file's %s: unchanged %v", backbone[i].Name, e.Name, same)
		}
	}
	made, d := must.Both(openModelAndData(t.Context(), run, torch.NewRandom(1), Options{Threads: 1, Log: io.Discard}))(t)
	defer func() { _ = d.close() }()
	weights, _, err := savedmodel.ReadCheckpoint(dir.Path(store.CheckpointFile))
	if err == nil {
		err = network.Load(made.network.State(), weights)
	}
	if err != nil {
		t.Fatal(err)
	}
	var own, opened measure.Outputs
	if frozen, ok := opens.(*nets.Frozen); ok && m.Input.Kind == savedmodel.Images {
		opens = frozen.OnPooled() // the run evaluates pooled features
	}
	for _, part := range []struct {
		of nets.Network
		to *measure.Outputs
	}{{made.evaluated, &own}, {opens, &opened}} {
		must.Do(t, (evaluator{logitsOf(part.of), 20, torch.CPU}).evaluate(context.Background(), d.onTest, part.to))
	}
	if len(own.Logits) == 0 || !slices.Equal(own.Logits, opened.Logits) {
		t.Error("the model's logits are not the run's")
	}
}

// What is wrong with the file is said with its key.
func TestTorchScriptThatDoesNotFit(t *testing.T) {
	run := ownRun(t, "iwdan", nil, "network={name: torchscript, file: "+scripts+"/shared.pt}")
	_, err := Run(t.Context(), run, begin(t, run), Options{Threads: 1})
	if want := "network.file: " + filepath.Join(scripts, "shared.pt") + ": the module does not take rows of shape [2]"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// A module that has changed since is not taken for that of a finished run, whose hash knows no
// more than its name; without one finished runs stay.
func TestChangedModule(t *testing.T) {
	content := testfiles.Read(t, filepath.Join(scripts, "vectors.pt"))
	folder := t.TempDir()
	module := filepath.Join(folder, "vectors.pt")
	write := func(content []byte) {
		testfiles.Write(t, module, string(content))
	}
	write(content)
	run := ownRun(t, "source-only", nil, "network={name: torchscript, file: "+module+"}", "train.epochs=1")
	runs := []plan.Run{plan.Of(run)}
	dir := runs[0].Dir(folder)
	must.Do(t, dir.Begin())
	must.Have(Run(t.Context(), run, dir, Options{Threads: 1}))(t)
	if err := domains.CheckSameWeights(runs, folder, false); err != nil {
		t.Error(err)
	}
	write(append(content, 0))
	if err, want := domains.CheckSameWeights(runs, folder, false), "was trained from another file than "+module; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	testfiles.Remove(t, module)
	if err := domains.CheckSameWeights(runs, folder, true); err != nil {
		t.Error(err)
	}
	if _, finished := runs[0].Finished(folder); !finished {
		t.Error("the run is gone with its module")
	}
	write(nil)
	if err := domains.CheckSameWeights(runs, folder, true); err != nil {
		t.Error(err)
	}
	if _, finished := runs[0].Finished(folder); finished {
		t.Error("the run of another module is finished")
	}
}
