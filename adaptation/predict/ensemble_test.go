package predict

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/model"
	"iwda/inference/classshares"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

var twoRows = Options{Torch: iwrunTorch, Threads: 1, Batch: 2}

// members are three models of rows of two values that share nothing but classes and shape.
func members(t *testing.T) []model.Model {
	t.Helper()
	var all []model.Model
	// Each normalises the same rows otherwise, the last one not at all.
	ways := []normalise.Normalisation{
		{Kind: normalise.Standard, Target: &normalise.Statistics{Mean: []float32{1, -2}, Deviation: []float32{2, 0.5}}},
		{Kind: normalise.Standard, Target: &normalise.Statistics{Mean: []float32{0, 3}, Deviation: []float32{1, 4}}}, {Kind: normalise.None},
	}
	for i, target := range [][]float64{{0.2, 0.3, 0.5}, {0.1, 0.8, 0.1}, {0.6, 0.2, 0.2}} {
		m := makeModel(t, mlp(2, 4+i, 3))
		n := networkOf(t, m)
		for _, e := range n.State() {
			torch.Tidy(func() { e.Tensor.Set(e.Tensor.Scale(float64(2 + i))) })
		}
		m.Shares.Source, m.Shares.Target = []float64{0.5, 0.25, 0.25}, target
		m.Calibration = &model.Calibration{Form: classshares.DefaultCalibration, Scales: []float64{0.5, 0.5, 0.5}, Biases: []float64{0, float64(i) / 2, 0}}
		m.Normalisation = ways[i]
		all = append(all, onDisk(t, m.Metadata, n))
	}
	return all
}

// fiveRows is a file of them, the input of what returns probabilities.
func fiveRows(t *testing.T, about model.Metadata) Input {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.npy")
	testfiles.Write(t, path, string(npy(5, 2, []float32{3, -2, 1, -1, -1, -3, 0.5, 4, -2, 2})))
	input := must.Have(Open(path, table.Roles{}, "model", about))(t)
	t.Cleanup(func() { input.Close() })
	return input
}

// together are the probabilities of fiveRows, rows × classes, by all members, and each of
// them by itself, with class shares of that name.
func together(t *testing.T, all []model.Model, shares string) (ensemble []float32, single [][]float32) {
	t.Helper()
	inputs := []Input{fiveRows(t, all[0].Metadata)}
	ctx := context.Background()
	var ids []string
	e := NewEnsemble(all, twoRows)
	of := must.Have(e.Shares(ctx, shares, inputs))(t)
	must.Do(t, e.Each(ctx, inputs, of, func(id string, probabilities []float32) error {
		ids, ensemble = append(ids, id), append(ensemble, probabilities...)
		return nil
	}))
	if want := []string{"0", "1", "2", "3", "4"}; !slices.Equal(ids, want) {
		t.Errorf("ids %q, want %q", ids, want)
	}
	for _, m := range all {
		p := NewEnsemble([]model.Model{m}, twoRows)
		of := must.Have(p.Shares(ctx, shares, inputs))(t)
		var rows []float32
		must.Do(t, p.Each(ctx, inputs, of, func(_ string, probabilities []float32) error {
			rows = append(rows, probabilities...)
			return nil
		}))
		single = append(single, rows)
	}
	return ensemble, single
}

// An ensemble's probabilities are the mean of those that each member has by itself, with
// its own normalisation, calibration and class shares.
func TestEnsembleIsTheMean(t *testing.T) {
	all := members(t)
	for i, shares := range []string{ModelShares, SourceShares, UniformShares, EstimateShares, ModelShares} {
		t.Run(shares, func(t *testing.T) {
			votes := slices.Repeat([]float32{1 / float32(len(all))}, len(all))
			if i == 4 { // votes are up to a factor
				votes = append([]float32{0.75, 0.25}, make([]float32, len(all)-2)...)
				all = all[:2]
				all[0].Vote, all[1].Vote = 0.3, 0.1
			}
			got, single := together(t, all, shares)
			want := make([]float32, len(got))
			for j, rows := range single {
				for i, p := range rows {
					want[i] += p * votes[j]
				}
			}
			near(t, got, want)
			for i, rows := range single {
				if slices.Equal(rows, single[(i+1)%len(single)]) {
					t.Errorf("the members %d and %d say the same, so that the test shows nothing", i, (i+1)%len(single))
				}
			}
		})
	}
}

// Several ensembles in one pass predict what each does by itself.
func TestEnsemblesAtOnce(t *testing.T) {
	all, ctx := members(t), context.Background()
	inputs := []Input{fiveRows(t, all[0].Metadata)}
	every := NewEnsemble(all, twoRows)
	var shares [][][]float64
	var want [][]float32
	ensembles := []Ensemble{every[:2], every[2:]}
	for _, e := range ensembles {
		of := must.Have(e.Shares(ctx, ModelShares, inputs))(t)
		var rows []float32
		must.Do(t, e.Each(ctx, inputs, of, func(_ string, probabilities []float32) error {
			rows = append(rows, probabilities...)
			return nil
		}))
		shares, want = append(shares, of), append(want, rows)
	}
	got, ids := make([][]float32, 2), make([][]string, 2)
	must.Do(t, EachOf(ctx, inputs, ensembles, shares, func(which int, id string, probabilities []float32) error {
		got[which], ids[which] = append(got[which], probabilities...), append(ids[which], id)
		return nil
	}))
	for which := range ensembles {
		if !slices.Equal(got[which], want[which]) || !slices.Equal(ids[which], []string{"0", "1", "2", "3", "4"}) {
			t.Errorf("ensemble %d: %v of %v, by itself %v", which, got[which], ids[which], want[which])
		}
	}
}

// Members with one frozen backbone predict what each does by itself, be the rows normalised
// alike, which then pass through it once, or not.
func TestEnsembleOnOneBackbone(t *testing.T) {
	const file = "../../testdata/torchscript/vectors.pt"
	module := testfiles.Read(t, file)
	sum := fmt.Sprintf("%x", sha256.Sum256(module))
	var all []model.Model
	for i, mean := range []float32{1, 1, 3, 1} {
		about := mlp(2, 4, 3)
		about.Architecture = model.Architecture{Name: architecture.TorchScript, Frozen: true}
		network, _ := must.Both(nets.New(architecture.TorchScript, nets.Settings{Classes: 3, RowShape: []int{2}, Weights: file, Frozen: true}))(t)
		torch.Tidy(func() {
			for j, e := range network.(*nets.Frozen).Head() {
				torch.Seed(uint64(10*i + j))
				e.Tensor.Set(torch.RandN(torch.Float32, e.Tensor.Shape()...))
			}
		})
		about.Architecture.Backbone = &model.Backbone{File: model.BackboneFile, SHA256: sum}
		uniform := slices.Repeat([]float64{1. / 3}, 3)
		about.Shares = model.Shares{Source: uniform, Classifier: uniform, Target: []float64{0.2, 0.3, 0.5}}
		about.Normalisation = normalise.Normalisation{Kind: normalise.Standard, Target: &normalise.Statistics{Mean: []float32{mean, -2}, Deviation: []float32{2, 0.5}}}
		m := onDisk(t, about, network)
		testfiles.Write(t, filepath.Join(m.Folder, model.BackboneFile), string(module))
		all = append(all, m)
	}
	got, single := together(t, all, ModelShares)
	want := make([]float32, len(got))
	for i, rows := range single {
		for j, p := range rows {
			want[j] += p / 4
		}
		if slices.Equal(rows, single[(i+1)%4]) {
			t.Errorf("the members %d and %d say the same, so that the test shows nothing", i, (i+1)%4)
		}
	}
	near(t, got, want)
}

func TestEnsembleNamesTheMemberWithoutShares(t *testing.T) {
	all := members(t)
	all[1].Shares.Target = nil
	_, err := NewEnsemble(all, twoRows).Shares(context.Background(), ModelShares, nil)
	if err == nil || !strings.HasPrefix(err.Error(), all[1].Folder+": the model has no class shares of a target") {
		t.Errorf("error %v", err)
	}
}
