package network

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"iwda/datasets/normalise"
	"iwda/experiments/model"
	"iwda/internal/evenly"
	"iwda/internal/wholefile"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// write writes a model of a frozen ResNet with random numbers by a seed, whose head has others, and returns its folder.
func write(t *testing.T, backbone, head uint64, how normalise.Normalisation) (folder string) {
	t.Helper()
	folder = t.TempDir()
	about := model.Metadata{
		Architecture: model.Architecture{Name: architecture.ResNet18, Frozen: true}, Input: model.Input{Kind: model.Images, Shape: []int{3, 32, 32}}, Classes: []string{"a", "b"},
		Normalisation: how, Shares: model.Shares{Source: []float64{0.5, 0.5}, Classifier: []float64{0.5, 0.5}},
	}
	torch.Seed(backbone)
	made, _, err := nets.New(about.Architecture.Name, nets.Settings{Classes: 2, Frozen: true})
	if err != nil {
		t.Fatal(err)
	}
	torch.Seed(head)
	torch.Tidy(func() {
		for _, e := range made.(*nets.Frozen).Head() {
			e.Tensor.Set(torch.RandN(torch.Float32, e.Tensor.Shape()...))
		}
	})
	err = wholefile.Write(filepath.Join(folder, model.WeightsFile), func(w io.Writer) error {
		var tensors []torch.Named
		for _, e := range made.State() {
			tensors = append(tensors, torch.Named{Name: e.Name, Tensor: e.Tensor})
		}
		return torch.WriteTensors(w, tensors, nil)
	})
	if err := errors.Join(err, about.Write(nil, folder)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// A frozen backbone that members have in common is there once, and each predicts what it does by itself, be the
// rows normalised alike, which then pass through it once, or not.
func TestMembersShareTheirBackbone(t *testing.T) {
	as, otherwise := normalise.Channels([]float32{0.5, 0.5, 0.5}, []float32{0.25, 0.5, 1}), normalise.Channels([]float32{1, 0.5, 0.5}, []float32{0.5, 0.5, 1})
	folders := []string{write(t, 3, 1, as), write(t, 3, 2, as), write(t, 3, 3, otherwise), write(t, 3, 4, as), write(t, 4, 5, as)}
	together, err := Open(folders, torch.CPU, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range together.members {
		if got := m.network.(*nets.Frozen).SharesBackbone(together.members[0].network.(*nets.Frozen)); got != (i < 4) {
			t.Errorf("member %d shares the backbone of the first: %v", i, got)
		}
	}
	batch := Batch{Shape: []int{3, 32, 32}}
	torch.Tidy(func() { batch.Values = torch.ToSlice[float32](torch.RandN(torch.Float32, 2, 3, 32, 32)) })
	got, err := together.Logits(evenly.All(len(folders)), batch)
	if err != nil {
		t.Fatal(err)
	}
	for i, folder := range folders {
		alone, err := Open([]string{folder}, torch.CPU, 1)
		if err != nil {
			t.Fatal(err)
		}
		want, err := alone.Logits([]int{0}, batch)
		if of := got[4*i : 4*i+4]; err != nil || !slices.Equal(of, want) || i > 0 && slices.Equal(want, got[:4]) {
			t.Errorf("member %d: %v, by itself %v; %v", i, of, want, err)
		}
	}
}
