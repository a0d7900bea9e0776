package main

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/maruel/safetensors"

	"iwda/datasets/normalise"
	"iwda/experiments/engine"
	"iwda/experiments/model"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/learners/forest"
	"iwda/nets/architecture"
	"iwda/nets/statedict"
)

// Without iwrun-torch, trees predict and are exported, and what needs it says so, and what to do.
func TestWithoutTorch(t *testing.T) {
	inFolder(t)
	numbers := func(name string, width uint64, values ...float32) statedict.Tensor {
		data := must.Have(binary.Append(nil, binary.LittleEndian, values))(t)
		return statedict.Tensor{Name: name, DType: safetensors.F32, Shape: []uint64{uint64(len(values)) / width, width}, Data: data}
	}
	even := []float64{0.5, 0.5}
	about := model.Metadata{
		Architecture: model.Architecture{Name: architecture.Forest, Trees: 1, Nodes: 3, Leaves: 2}, Input: model.Input{Kind: model.Features, Shape: []int{1}},
		Classes: []string{"cat", "dog"}, Normalisation: normalise.Normalisation{Kind: normalise.None}, Shares: model.Shares{Source: even, Classifier: even, Target: even},
	}
	tree := model.Model{Metadata: about, Weights: []statedict.Tensor{ // up to 0.5 it is a cat
		numbers(forest.NodesTensor, forest.Fields, 0, 0.5, 1, 2, 0, 0, 1, 1, 0, 1, 2, 2), numbers(forest.SharesTensor, 2, 1, 0, 0, 1),
	}}
	must.Do(t, model.Save("tree", tree))
	about.Architecture = model.Architecture{Name: architecture.MLP, HiddenLayers: 1, HiddenSize: 1}
	vector := func(name string, values ...float32) statedict.Tensor {
		t := numbers(name, 1, values...)
		t.Shape = t.Shape[:1]
		return t
	}
	network := []statedict.Tensor{numbers("bottleneck.weight", 1, 1), vector("bottleneck.bias", 0), numbers("classifier.weight", 1, -1, 1), vector("classifier.bias", 0, 0)}
	must.Do(t, model.Save("network", model.Model{Metadata: about, Weights: network}))
	about.Architecture.HiddenLayers = 2
	must.Do(t, model.Save("deep", model.Model{Metadata: about, Weights: append(network, numbers("hidden1.weight", 1, 1), vector("hidden1.bias", 0))}))
	testfiles.Write(t, "rows.csv", "x\n0.25\n0.75\n")
	t.Setenv(engine.Variable, "/nowhere/iwrun-torch")
	for folder, want := range map[string][2]string{"tree": {"0,cat,", "1,dog,"}, "network": {"0,dog,0.6224", "1,dog,0.8175"}} {
		succeed(t, "predict", folder, "rows.csv", "-o", "out.csv")
		if text := readFile(t, "out.csv"); !strings.Contains(text, want[0]) || !strings.Contains(text, want[1]) {
			t.Errorf("%s predicted\n%s", folder, text)
		}
	}
	for _, folder := range []string{"tree", "network"} {
		if status, _, said := call(t, "export", folder, "--onnx", folder+".onnx", "-o", folder+"-copy"); status != 0 {
			t.Error(said)
		}
		if info, err := os.Stat(folder + ".onnx"); err != nil || info.Size() == 0 {
			t.Error(err)
		}
	}
	for command, want := range map[string]string{
		"predict deep rows.csv -o deep.csv": "opening a network needs iwrun-torch, ",
		"-c tiny.yaml":                      "training needs iwrun-torch, ",
	} {
		status, _, said := call(t, strings.Fields(command)...)
		if status != 1 || !strings.Contains(said, want) || !strings.Contains(said, "IWDA_TORCH names /nowhere/iwrun-torch, which is no program") {
			t.Errorf("%s: status %d, %s", command, status, said)
		}
	}
	if status, out, said := call(t, "-c", "tiny.yaml", "--dry-run"); status != 0 || strings.Count(out, "\n") != 2 || !strings.Contains(said, "hours unknown, because measuring steps needs iwrun-torch") && !strings.Contains(said, "hours unknown, because training needs iwrun-torch") {
		t.Errorf("dry run: status %d, %s%s", status, out, said)
	}
	if status, out, said := call(t, "doctor"); status != 0 || !strings.Contains(out, "warning: there is no libtorch: ") {
		t.Errorf("doctor: status %d, %s%s", status, out, said)
	}
}
