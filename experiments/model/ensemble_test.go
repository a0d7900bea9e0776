package model_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/experiments/model"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/nets/architecture"
	"iwda/nets/statedict"
	"iwda/torch"
)

// saveMembers writes a model of each description into a folder of that name.
func saveMembers(t *testing.T, members map[string]model.Metadata) (folder string) {
	t.Helper()
	folder = t.TempDir()
	torch.Tidy(func() {
		for name, about := range members {
			must.Do(t, model.Save(filepath.Join(folder, name), makeModel(t, about)))
		}
	})
	return folder
}

func TestOpenEnsemble(t *testing.T) {
	about := describe(architecture.MLP, 4)
	folder := saveMembers(t, map[string]model.Metadata{"seed-10": about, "seed-2/model": about, "seed--1": about, "seed-02": about, "best": about})
	must.Do(t, os.Symlink("best", filepath.Join(folder, "seed-4")))
	touch(t, filepath.Join(folder, "seed-x"))
	touch(t, filepath.Join(folder, "seed-3.log"))
	for _, c := range []struct {
		folder string
		want   []string
	}{
		{folder, []string{filepath.Join(folder, "seed--1"), filepath.Join(folder, "seed-2"), filepath.Join(folder, "seed-4"), filepath.Join(folder, "seed-10")}},
		{filepath.Join(folder, "seed-2"), []string{filepath.Join(folder, "seed-2")}},
		{filepath.Join(folder, "best"), []string{filepath.Join(folder, "best")}},
	} {
		members := must.Have(model.Trust{}.OpenEnsemble(c.folder))(t)
		var got []string
		for _, m := range members {
			got = append(got, m.Folder)
			if !slices.Equal(m.Classes, about.Classes) || len(m.Weights) != 8 {
				t.Errorf("%s: classes %q, %d tensors", m.Folder, m.Classes, len(m.Weights))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: members %q, want %q", c.folder, got, c.want)
		}
	}
	// Every seed counts: what is left out silently would be another prediction.
	touch(t, filepath.Join(folder, "seed-10", "config.yaml"))
	testfiles.Remove(t, filepath.Join(folder, "seed-10", model.MetadataFile))
	must.Refuse(model.Trust{}.OpenEnsemble(folder))(t, "seed-10 is a run that has not finished")
	must.Refuse(model.Trust{}.OpenEnsemble(t.TempDir()))(t, "is no model: it has no model.json")
}

// What is saved is what is opened, whatever was saved there before, and files of others stay.
func TestSaveEnsemble(t *testing.T) {
	first, second, third := describe(architecture.MLP, 4), describe(architecture.MLP, 4), describe(architecture.MLP, 4)
	second.Normalisation.Target.Mean[0], third.Normalisation.Target.Mean[0] = 2, 3
	members := must.Have(model.Trust{}.OpenEnsemble(saveMembers(t, map[string]model.Metadata{"seed-1": first, "seed-2": second, "seed-7": third})))(t)
	folder := t.TempDir()
	inner := filepath.Join(folder, "model")
	for _, c := range []struct {
		saved []model.Model
		want  []string
	}{
		{members[:1], []string{""}},
		{members, []string{"model/seed-1", "model/seed-2", "model/seed-7"}},
		{members[1:], []string{"model/seed-2", "model/seed-7"}},
		{members[2:], []string{""}},
	} {
		must.Do(t, model.Save(inner, c.saved...))
		touch(t, filepath.Join(inner, "model.onnx"))
		again, err := model.Trust{}.OpenEnsemble(folder)
		if err != nil || len(again) != len(c.want) {
			t.Fatalf("%d models, want %q; error %v", len(again), c.want, err)
		}
		for i, m := range again {
			if want := filepath.Join(folder, c.want[i]); m.Folder != want || m.Normalisation.Target.Mean[0] != c.saved[i].Normalisation.Target.Mean[0] {
				t.Errorf("model %d is %s of mean %v, want %s", i, m.Folder, m.Normalisation.Target.Mean[0], want)
			}
		}
	}
	left, err := filepath.Glob(filepath.Join(inner, "*"))
	if want := []string{"model.json", "model.onnx", "model.safetensors"}; err != nil || len(left) != 3 || filepath.Base(left[1]) != want[1] {
		t.Errorf("left %q, want %q; error %v", left, want, err)
	}
	// A run's folder is no former model.
	run := filepath.Join(inner, "seed-9")
	testfiles.MakeFolder(t, run)
	touch(t, filepath.Join(run, model.MetadataFile))
	must.Do(t, model.Save(inner, members[:1]...))
	if _, err := os.Stat(filepath.Join(run, model.MetadataFile)); err != nil {
		t.Error(err)
	}
}

// A module is saved beside its model, frozen or not, and a frozen one's tensors are its own.
func TestSaveEnsembleOfOneModule(t *testing.T) {
	frozen, trained, other := scripted(t, "backbone.pt", 3, 7, 7), scripted(t, "backbone.pt", 3, 7, 7), scripted(t, "frozen.pt", 3, 7, 7)
	frozen.Architecture.Frozen, other.Architecture.Frozen = true, true
	members := must.Have(model.Trust{Inside: true}.OpenEnsemble(saveMembers(t, map[string]model.Metadata{"seed-1": frozen, "seed-2": frozen, "seed-3": trained, "seed-4": other})))(t)
	folder := t.TempDir()
	for range 2 {
		must.Do(t, model.Save(folder, members...))
	}
	file := func(seed, name string) string { return filepath.Join(folder, seed, name) }
	for i, seed := range []string{"seed-1", "seed-2", "seed-3", "seed-4"} {
		want := testfiles.Read(t, members[i].Architecture.Backbone.File)
		if got := testfiles.Read(t, file(seed, model.BackboneFile)); !bytes.Equal(got, want) {
			t.Errorf("%s has another module", seed)
		}
	}
	for seed, want := range map[string]bool{"seed-1": false, "seed-3": true} {
		tensors, _, err := statedict.Read(file(seed, model.WeightsFile))
		has := slices.ContainsFunc(tensors, func(t statedict.Tensor) bool { return strings.HasPrefix(t.Name, "backbone.") })
		if err != nil || has != want {
			t.Errorf("%s has the backbone's tensors: %v, want %v; error %v", seed, has, want, err)
		}
	}
	again := must.Have(model.Trust{Inside: true}.OpenEnsemble(folder))(t)
	for i, m := range again {
		was := networkOf(members[i]).State()
		for j, e := range networkOf(m).State() {
			want := was[j]
			values, wanted := torch.ToSlice[float32](e.Tensor.To(torch.Float32, torch.CPU)), torch.ToSlice[float32](want.Tensor.To(torch.Float32, torch.CPU))
			if e.Name != want.Name || e.Tensor.DType() != want.Tensor.DType() || !slices.Equal(values, wanted) {
				t.Errorf("%s: %s is not what was saved as %s", m.Folder, e.Name, want.Name)
			}
		}
	}
}

func TestMembersAgree(t *testing.T) {
	otherClasses, wide := describe(architecture.MLP, 4), describe(architecture.MLP, 5)
	slices.Reverse(otherClasses.Classes)
	small, large, moved := describe(architecture.LeNet, 1, 28, 28), describe(architecture.LeNet, 1, 28, 28), describe(architecture.LeNet, 1, 28, 28)
	small.Input.Resize, large.Input.Resize, moved.Input.Resize = 36, 40, 36
	moved.Normalisation.Target.Mean[0] = 7
	movedFeatures := describe(architecture.MLP, 4)
	movedFeatures.Normalisation.Target.Mean[1] = 7
	for _, c := range []struct {
		name          string
		first, second model.Metadata
		want          string // empty: they may predict together
	}{
		{"classes", describe(architecture.MLP, 4), otherClasses, `the classes of the first are ["cat" "dog <&>" "Vögel"], those of the second ["Vögel" "dog <&>" "cat"]`},
		{"shape", describe(architecture.MLP, 4), wide, "the first takes features of shape [4], the second features of shape [5]"},
		{"scale", small, large, "from files scaled to 36 pixels, the second images of shape [1 28 28] from files scaled to 40 pixels"},
		{"normalisation of files", small, moved, "they normalise images with other means and deviations"},
		{"normalisation of features", describe(architecture.MLP, 4), movedFeatures, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := saveMembers(t, map[string]model.Metadata{"seed-1": c.first, "seed-2": c.second})
			_, err := model.Trust{}.OpenEnsemble(folder)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			who := filepath.Join(folder, "seed-1") + " and " + filepath.Join(folder, "seed-2") + " cannot predict together"
			must.Fail(t, err, who, c.want)
		})
	}
}
