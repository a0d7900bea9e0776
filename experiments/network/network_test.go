package network

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"iwda/datasets/normalise"
	"iwda/experiments/model"
	"iwda/internal/input"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// write writes a model of a frozen backbone with random numbers, and returns its folder and the SHA-256 of its module.
func write(t *testing.T, name architecture.Name, shape ...int) (folder, sum string) {
	t.Helper()
	folder = t.TempDir()
	about := model.Metadata{
		Architecture: model.Architecture{Name: name, Frozen: true}, Input: model.Input{Kind: model.Images, Shape: shape}, Classes: []string{"a", "b"},
		Normalisation: normalise.Normalisation{Kind: normalise.None}, Shares: model.Shares{Source: []float64{0.5, 0.5}, Classifier: []float64{0.5, 0.5}},
	}
	settings := nets.Settings{Classes: 2, RowShape: shape, Frozen: true}
	if name == architecture.TorchScript {
		about.Input.Kind, settings.Weights = model.Features, "../../testdata/torchscript/vectors.pt"
		testfiles.Write(t, filepath.Join(folder, model.BackboneFile), string(testfiles.Read(t, settings.Weights)))
	}
	torch.Seed(3)
	made, sum := must.Both(nets.New(name, settings))(t)
	state := made.State()
	if name == architecture.TorchScript {
		about.Architecture.Backbone = &model.Backbone{File: model.BackboneFile, SHA256: sum}
		state = made.(*nets.Frozen).Head()
	}
	err := wholefile.Write(filepath.Join(folder, model.WeightsFile), func(w io.Writer) error {
		var tensors []torch.Named
		for _, e := range state {
			tensors = append(tensors, torch.Named{Name: e.Name, Tensor: e.Tensor})
		}
		return torch.WriteTensors(w, tensors, nil)
	})
	must.Do(t, errors.Join(err, about.Write(nil, folder)))
	return folder, sum
}

// A frozen backbone that members have in common is there once. Two TorchScript modules are programs, which may differ
// where their numbers do not.
func TestMembersShareTheirBackbone(t *testing.T) {
	first, _ := write(t, architecture.ResNet18, 3, 32, 32)
	second, _ := write(t, architecture.ResNet18, 3, 32, 32)
	script, sum := write(t, architecture.TorchScript, 2)
	other, _ := write(t, architecture.TorchScript, 2)
	path := filepath.Join(other, model.BackboneFile)
	testfiles.Write(t, path, string(testfiles.Read(t, path))+"\x00") // the same module in other bytes
	about := must.Have(model.ReadMetadata(other))(t)
	otherSum, err := input.SHA256(path)
	about.Architecture.Backbone.SHA256 = otherSum
	must.Do(t, errors.Join(err, about.Write(nil, other)))
	for _, c := range []struct {
		folders, sums []string
		want          bool
	}{
		{[]string{first, second}, []string{"", ""}, true},
		{[]string{script, script}, []string{sum, sum}, true},
		{[]string{script, other}, []string{sum, otherSum}, false},
	} {
		e := must.Have(Open(c.folders, c.sums, torch.CPU, 1))(t)
		if got := e.members[1].network.(*nets.Frozen).SharesBackbone(e.members[0].network.(*nets.Frozen)); got != c.want {
			t.Errorf("%q share a backbone: %v", c.folders, got)
		}
	}
}

// Only the module that was allowed runs, whatever lies in the folder and whatever model.json says of it by now.
func TestOnlyTheAllowedModuleRuns(t *testing.T) {
	folder, sum := write(t, architecture.TorchScript, 2)
	for _, allowed := range []string{"", strings.Repeat("0", len(sum))} {
		if _, err := Open([]string{folder}, []string{allowed}, torch.CPU, 1); !errors.Is(err, input.ErrWrong) || !strings.Contains(fmt.Sprint(err), "not the one that may run (SHA-256 "+sum+")") {
			t.Errorf("%q allowed: %v", allowed, err)
		}
	}
	if _, err := Open([]string{folder}, []string{sum}, torch.CPU, 1); err != nil {
		t.Error(err)
	}
}
