package model_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/experiments/checkpoint"
	"iwda/experiments/model"
	"iwda/internal/input"
	"iwda/internal/must"
	"iwda/internal/printable"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

func TestOpenSaysWhatIsMissing(t *testing.T) {
	whole := func(t *testing.T) string { return save(t, makeModel(t, describe(architecture.MLP, 4))) }
	empty := func(names ...string) func(t *testing.T) string {
		return func(t *testing.T) string {
			folder := t.TempDir()
			for _, name := range names {
				touch(t, filepath.Join(folder, name))
			}
			return folder
		}
	}
	for _, c := range []struct {
		name   string
		folder func(t *testing.T) string
		want   string
	}{
		{"no folder", func(t *testing.T) string { return filepath.Join(t.TempDir(), "nowhere") }, "nowhere: no such file"},
		{"a file", func(t *testing.T) string { return filepath.Join(whole(t), model.WeightsFile) }, "is a file; a model is a folder with model.json"},
		{"another folder", empty("notes.txt"), "is no model: it has no model.json, and neither has its folder model"},
		{"a run that has not finished", empty("config.yaml", "checkpoint.safetensors"), "has not finished"},
		{"no weights", func(t *testing.T) string {
			folder := whole(t)
			testfiles.Remove(t, filepath.Join(folder, model.WeightsFile))
			return folder
		}, "has no weights: neither model.safetensors nor, as a run's folder, checkpoint.safetensors"},
		{"a damaged checkpoint", func(t *testing.T) string {
			folder := whole(t)
			must.Do(t, os.Rename(filepath.Join(folder, model.WeightsFile), filepath.Join(folder, "checkpoint.safetensors")))
			return folder
		}, "checkpoint.safetensors is damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			must.Refuse(model.Trust{}.Open(c.folder(t)))(t, c.want)
		})
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	testfiles.Write(t, path, "")
}

// A checkpoint may leave a frozen backbone out; its file of weights must then be the one
// that the model was trained with.
func TestBackboneOutsideTheCheckpoint(t *testing.T) {
	about := describe(architecture.ResNet18, 3, 32, 32)
	about.Architecture.Frozen = true
	torch.Tidy(func() {
		whole := makeModel(t, about)
		frozen := networkOf(whole).(*nets.Frozen)
		folder := t.TempDir()
		file := filepath.Join(folder, "resnet18.safetensors")
		var tensors []torch.Named
		for _, e := range frozen.Backbone() {
			tensors = append(tensors, torch.Named{Name: strings.TrimPrefix(e.Name, "backbone."), Tensor: e.Tensor})
		}
		must.Do(t, wholefile.Write(file, func(w io.Writer) error { return torch.WriteTensors(w, tensors, nil) }))
		_, sum := must.Both(nets.New(architecture.ResNet18, nets.Settings{Classes: 3, Weights: file, Frozen: true}))(t)
		writeCheckpoint(t, filepath.Join(folder, "checkpoint.safetensors"), frozen.Head())

		about.Architecture.Backbone = &model.Backbone{File: file, SHA256: sum}
		must.Do(t, about.Write(nil, folder))
		opened := must.Have(model.Trust{}.Open(folder))(t)
		x := torch.RandN(torch.Float32, 2, 3, 32, 32)
		_, want := frozen.Forward(x, false)
		_, got := networkOf(opened).Forward(x, false)
		if !slices.Equal(torch.ToSlice[float32](got), torch.ToSlice[float32](want)) {
			t.Error("other logits")
		}
		// A folder that is saved stands alone.
		alone := must.Have(model.Trust{}.Open(save(t, opened)))(t)
		if alone.Architecture.Backbone != nil {
			t.Error("a saved model refers to a file outside its folder")
		}

		other := strings.Repeat("0", len(sum))
		about.Architecture.Backbone.SHA256 = other
		must.Do(t, about.Write(nil, folder))
		must.Refuse(model.Trust{}.Open(folder))(t, "it had "+other)
	})
}

func writeCheckpoint(t *testing.T, path string, state nets.State) {
	t.Helper()
	var tensors []torch.Named
	for _, e := range state.Prefixed(checkpoint.NetworkPrefix) {
		tensors = append(tensors, torch.Named{Name: e.Name, Tensor: e.Tensor})
	}
	must.Do(t, (*wholefile.Disk)(nil).WriteFile(path, func(file wholefile.File) error {
		return checkpoint.Write(file, checkpoint.Record{}, func(w io.Writer, metadata map[string]string) error {
			return torch.WriteTensors(w, tensors, metadata)
		})
	}))
}

// A module runs if it is trusted where it really lies, and is named in the error else. What is not
// the one that model.json describes does not run, trusted or not.
func TestModulesRunIfTrusted(t *testing.T) {
	about := scripted(t, "vectors.pt", 2)
	of := save(t, makeModel(t, about))
	module := filepath.Join(of, model.BackboneFile)
	content := testfiles.Read(t, module)
	elsewhere := filepath.Join(t.TempDir(), "it's elsewhere.pt")
	testfiles.Write(t, elsewhere, string(content))
	link := func(to string) string {
		folder := save(t, makeModel(t, about))
		path := filepath.Join(folder, model.BackboneFile)
		must.Do(t, errors.Join(os.Remove(path), os.Symlink(to, path)))
		return folder
	}
	run := func(file string) string {
		folder := t.TempDir()
		torch.Tidy(func() {
			m := makeModel(t, about)
			writeCheckpoint(t, filepath.Join(folder, "checkpoint.safetensors"), networkOf(m).State())
			m.Architecture.Backbone = &model.Backbone{File: file, SHA256: about.Architecture.Backbone.SHA256}
			must.Do(t, m.Write(nil, folder))
		})
		return folder
	}
	ofRun := run(elsewhere)
	testfiles.Write(t, filepath.Join(ofRun, model.BackboneFile), string(content)) // which nobody opens
	for name, c := range map[string]struct {
		folder, add string // after the question
		enough      []model.Trust
	}{
		"inside":                {of, "add --run-module", []model.Trust{{Inside: true}, {Files: []string{module}}}},
		"a link that leads out": {link(elsewhere), "add --module ", []model.Trust{{Files: []string{elsewhere}}}},
		"outside":               {ofRun, "add " + printable.Command("--module", elsewhere), []model.Trust{{Files: []string{"nowhere", elsewhere}}}},
	} {
		others := []model.Trust{{}, {Files: []string{"../../testdata/torchscript/vectors.pt"}}}
		if len(c.enough) == 1 {
			others = append(others, model.Trust{Inside: true})
		}
		for _, trust := range others {
			_, err := trust.OpenEnsemble(c.folder)
			if !model.Untrusted(err) || !errors.Is(err, input.ErrWrong) || !strings.Contains(err.Error(), about.Architecture.Backbone.SHA256) || !strings.Contains(err.Error(), c.add) {
				t.Errorf("%s, %+v: error %v", name, trust, err)
			}
		}
		for _, trust := range c.enough {
			if _, err := trust.OpenEnsemble(c.folder); err != nil {
				t.Errorf("%s, %+v: %v", name, trust, err)
			}
		}
	}
	testfiles.Write(t, elsewhere, string(content)+"more")
	must.Refuse((model.Trust{Files: []string{elsewhere}}).Open(ofRun))(t, "it had "+about.Architecture.Backbone.SHA256)
}
