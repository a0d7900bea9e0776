package model_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/datasets/normalise"
	"iwda/experiments/model"
	"iwda/experiments/network"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/learners"
	"iwda/learners/boosting"
	"iwda/learners/forest"
	"iwda/learners/perceptron"
	"iwda/learners/regression"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/nets/statedict"
	"iwda/torch"
)

// describe returns metadata of a network with three classes and rows of that shape, with
// every optional part.
func describe(name architecture.Name, shape ...int) model.Metadata {
	kind, mean, deviation := model.Images, make([]float32, shape[0]), make([]float32, shape[0])
	if len(shape) == 1 {
		kind = model.Features
	}
	for i := range mean {
		mean[i], deviation[i] = float32(i)/10-0.2, 0.5+float32(i)/4
	}
	m := model.Metadata{
		Format:       6,
		Architecture: model.Architecture{Name: name},
		Input:        model.Input{Kind: kind, Shape: shape},
		Classes:      []string{"cat", "dog <&>", "Vögel"},
		Normalisation: normalise.Normalisation{
			Kind: normalise.Standard, Target: &normalise.Statistics{Mean: mean, Deviation: deviation},
		},
		Shares: model.Shares{
			Source: []float64{0.5, 0.3, 0.2}, Target: []float64{0.125, 0.125, 0.75}, Classifier: []float64{0.25, 0.25, 0.5},
		},
		Calibration: &model.Calibration{Form: "vs", Scales: []float64{0.5, 1.25, 2}, Biases: []float64{0.75, -0.5, -0.25}},
		Versions:    map[string]string{"iwda": "0.0.1"},
		Provenance:  map[string]string{"task": "photos-sketches"},
	}
	switch name {
	case architecture.MLP:
		m.Architecture.HiddenLayers, m.Architecture.HiddenSize = 3, 6
	case architecture.Forest, architecture.Boosting, architecture.Perceptron:
		m.Architecture = model.Learnt(grown(name, shape[0])).Architecture
	}
	return m
}

// grown returns what is learnt of rows of that many values, some of them alike, in three classes.
func grown(name architecture.Name, size int) learners.Model {
	random := rand.New(rand.NewPCG(2, 3))
	rows := learners.Rows{Classes: 3}
	for range 60 {
		row := make([]float32, size)
		for i := range row {
			row[i] = float32(random.NormFloat64())
		}
		for range 2 {
			rows.Values, rows.Labels = append(rows.Values, row...), append(rows.Labels, random.IntN(3))
		}
	}
	learn := forest.Fit
	switch name {
	case architecture.Linear:
		learn = regression.Fit
	case architecture.Boosting:
		settings := boosting.Usual()
		settings.Rounds, settings.Folds = 10, 0
		learn = settings.Fit
	case architecture.Perceptron:
		settings := perceptron.Usual()
		settings.Rounds, settings.Hidden = 2, 8
		learn = settings.Fit
	}
	fitted, err := learn(context.Background(), rows, nil, 1, rand.NewPCG(1, 1))
	if err != nil {
		panic(err)
	}
	return fitted.Model
}

// makeModel returns a model with random numbers in every tensor.
func makeModel(t *testing.T, about model.Metadata) model.Model {
	t.Helper()
	if name := about.Architecture.Name; name.Learnt() {
		return model.Model{Metadata: about, Weights: model.Learnt(grown(name, about.Input.Shape[0])).Weights}
	}
	torch.Seed(21)
	settings := nets.Settings{
		Classes: len(about.Classes), RowShape: about.Input.Shape, Frozen: about.Architecture.Frozen,
		HiddenLayers: about.Architecture.HiddenLayers, HiddenSize: about.Architecture.HiddenSize,
	}
	if about.Architecture.Backbone != nil {
		settings.Weights = about.Architecture.Backbone.File
	}
	network, _ := must.Both(nets.New(about.Architecture.Name, settings))(t)
	torch.Tidy(func() {
		for _, e := range network.State() {
			noise := torch.RandN(torch.Float32, e.Tensor.Shape()...)
			switch {
			case e.Tensor.DType() != torch.Float32:
				e.Tensor.Increment()
			case strings.HasPrefix(e.Name, "classifier."):
				e.Tensor.Set(noise.Scale(0.05)) // probabilities that are neither 0 nor 1
			case strings.HasSuffix(e.Name, ".running_var"):
				e.Tensor.Set(noise.Square().Affine(1, 0.5))
			case len(e.Tensor.Shape()) == 1: // small, so that deep networks stay near 1
				e.Tensor.Set(noise.Affine(0.1, 0.15))
			}
		}
	})
	return model.Model{Metadata: about, Weights: weightsOf(network.State())}
}

// weightsOf are the numbers of a network's state.
func weightsOf(state nets.State) []statedict.Tensor {
	var tensors []torch.Named
	for _, e := range state {
		tensors = append(tensors, torch.Named{Name: e.Name, Tensor: e.Tensor})
	}
	var file bytes.Buffer
	err := torch.WriteTensors(&file, tensors, nil)
	weights, parseErr := statedict.Parse(file.Bytes())
	if err := errors.Join(err, parseErr); err != nil {
		panic(err)
	}
	return weights
}

// networkOf is the network of a model.
func networkOf(m model.Model) nets.Network {
	allowed := ""
	if b := m.Architecture.Backbone; b != nil {
		allowed = b.SHA256
	}
	n, err := network.New(m, allowed)
	if err != nil {
		panic(err)
	}
	return n
}

// scripted describes a network with the module of that name in testdata, which takes rows of
// that shape.
func scripted(t *testing.T, name string, shape ...int) model.Metadata {
	t.Helper()
	about := describe(architecture.TorchScript, shape...)
	file := filepath.Join("..", "..", "testdata", "torchscript", name)
	content := testfiles.Read(t, file)
	about.Architecture.Backbone = &model.Backbone{File: file, SHA256: fmt.Sprintf("%x", sha256.Sum256(content))}
	return about
}

func save(t *testing.T, m model.Model) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "model")
	must.Do(t, model.Save(folder, m))
	return folder
}

func TestRoundTrip(t *testing.T) {
	frozen := describe(architecture.ResNet18, 3, 32, 32)
	frozen.Architecture.Frozen, frozen.Input.Resize = true, 40
	plain := describe(architecture.MLP, 4)
	plain.Normalisation = normalise.Normalisation{Kind: normalise.None}
	plain.Calibration, plain.Shares.Target, plain.Provenance, plain.Versions = nil, nil, nil, nil
	scriptOfFeatures, frozenScript := scripted(t, "shared.pt", 6), scripted(t, "frozen.pt", 3, 7, 7)
	frozenScript.Architecture.Frozen, frozenScript.Input.Resize = true, 8
	for _, about := range []model.Metadata{
		describe(architecture.LeNet, 1, 28, 28), describe(architecture.MLP, 4), plain, describe(architecture.ResNet18, 3, 32, 32), frozen,
		scripted(t, "backbone.pt", 3, 7, 7), scriptOfFeatures, frozenScript, describe(architecture.Forest, 4), describe(architecture.Boosting, 4), describe(architecture.Perceptron, 4),
	} {
		torch.Tidy(func() {
			saved := makeModel(t, about)
			folder := save(t, saved)
			loaded := must.Have(model.Trust{Inside: true}.Open(folder))(t)
			if b := about.Architecture.Backbone; b != nil { // the folder stands alone
				about.Architecture.Backbone = &model.Backbone{File: filepath.Join(folder, model.BackboneFile), SHA256: b.SHA256}
			}
			if difference := cmp.Diff(about, loaded.Metadata); difference != "" {
				t.Errorf("%s: %s", about.Architecture.Name, difference)
			}
			if !reflect.DeepEqual(loaded.Weights, trainedOf(saved)) {
				t.Errorf("%s: other weights", about.Architecture.Name)
			}
			if loaded.Logits(true) == nil {
				networkOf(loaded)
			}
		})
	}
}

// trainedOf are the weights that a folder has of a model: all, but those of a frozen module.
func trainedOf(m model.Model) []statedict.Tensor {
	return slices.DeleteFunc(slices.Clone(m.Weights), func(t statedict.Tensor) bool {
		return m.Architecture.Frozen && m.Architecture.Backbone != nil && strings.HasPrefix(t.Name, "backbone.")
	})
}

// edited saves a model of a network on four values and changes model.json.
func edited(t *testing.T, name architecture.Name, change func(keys map[string]any)) (folder string) {
	t.Helper()
	folder = save(t, makeModel(t, describe(name, 4)))
	path := filepath.Join(folder, model.MetadataFile)
	var keys map[string]any
	testfiles.ReadJSON(t, path, &keys)
	change(keys)
	delete(keys, "seal") // as whoever changes it by hand must
	data := must.Have(json.Marshal(keys))(t)
	testfiles.Write(t, path, string(data))
	return folder
}

func TestKeysOfLaterVersionsAreIgnored(t *testing.T) {
	folder := edited(t, architecture.MLP, func(keys map[string]any) {
		keys["more"] = []int{1}
		keys["input"].(map[string]any)["more"] = "x"
	})
	m := must.Have(model.Trust{}.Open(folder))(t)
	if difference := cmp.Diff(describe(architecture.MLP, 4), m.Metadata); difference != "" {
		t.Error(difference)
	}
}

func TestErrorsNameFileAndField(t *testing.T) {
	within := func(path string, value any) func(map[string]any) {
		return func(keys map[string]any) {
			parts := strings.Split(path, ".")
			for _, part := range parts[:len(parts)-1] {
				keys = keys[part].(map[string]any)
			}
			if value == nil {
				delete(keys, parts[len(parts)-1])
			} else {
				keys[parts[len(parts)-1]] = value
			}
		}
	}
	for _, c := range []struct {
		path  string
		value any
		want  string
	}{
		{"format", 7, "model.json: format is 7, of a later version"},
		{"vote", 1.5, "vote is 1.5, want 0 to 1"},
		{"format", nil, "model.json: format is 0"},
		{"format", "1", "model.json: line 1: json: cannot unmarshal string"},
		{"classes", []string{"a"}, "classes has 1 names"},
		{"classes", make([]string, 80_000), "classes has 80000 names, want 2 to 32768"},
		{"classes", []string{"a", "b", "a"}, `classes has "a" twice`},
		{"network.name", "vgg", `network.name: nets: no network "vgg"; there are lenet`},
		{"network.name", "lenet", `input.kind is "features", input.shape is [4]; lenet takes images of shape [1 28 28]`},
		{"network.name", "resnet50", `input.kind is "features", which resnet50 does not take`},
		{"network.name", "torchscript", "network.backbone, the file of the module, is missing"},
		{"network.backbone", map[string]any{"file": "../backbone.pt"}, `network.backbone.file is "../backbone.pt", which is not in the folder`},
		{"network.hidden_size", -1, "network.hidden_size -1"},
		{"input.shape", []int{0}, "input.shape[0] is 0"},
		{"input.shape", []int{4, 4}, "input.shape is [4 4]; of features it is [size]"},
		{"input.shape", []int{}, "input.shape is []; of features it is [size]"},
		{"input.encoding", []map[string]string{{"column": "a"}}, "input.encoding makes other columns than input.columns names"},
		{"input.encoding", map[string]string{"column": "a"}, "model.json: line 1: json: cannot unmarshal object into Go struct field"},
		{"input.kind", "images", `input.kind is "images", which mlp does not take`},
		{"input.resize", -3, "input.resize is -3"},
		{"normalisation.kind", "zscore", `normalisation.kind is "zscore"`},
		{"normalisation.kind", "none", `normalisation.target is there; normalisation.kind "none"`},
		{"normalisation.target", nil, "normalisation.target is missing"},
		{"normalisation.target.mean", []int{1, 2}, "normalisation.target.mean has 2 values, want 4"},
		{"normalisation.target.deviation", []int{1, 2, 0, 3}, "normalisation.target.deviation[2] is 0"},
		{"normalisation.target.low", []int{1, 2}, "normalisation.target.low and normalisation.target.high have 2 and 0 values, want 4"},
		{"normalisation.source", map[string]any{}, "normalisation.source.mean has 0 values, want 4"},
		{"shares.source", nil, "shares.source has 0 values for 3 classes"},
		{"shares.target", []float64{0.5, 0.5, 0.5}, "shares.target sums to 1.5"},
		{"shares.target", []float64{1.5, -0.5, 0}, "shares.target[0] is 1.5"},
		{"shares.classifier", []float64{0.5, 0.5, 0}, "shares.classifier[2] is 0"},
		{"calibration.scales", []float64{1, 1}, "calibration has 2 scales and 3 biases for 3 classes"},
		{"calibration.scales", []float64{1, 1, -1}, "calibration.scales[2] is -1"},
		{"network.hidden_layers", 2, "model.safetensors: unexpected hidden2.bias"},
		{"network.hidden_layers", 16_000_000, "model.safetensors: no hidden3.weight"},
		{"network.hidden_size", 16_000_000, "model.safetensors: hidden1.weight has the shape [6 4]; by model.json it is [16000000 4]"},
	} {
		_, err := model.Trust{}.Open(edited(t, architecture.MLP, within(c.path, c.value)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: error %v, want one with %q", c.path, c.value, err, c.want)
		}
	}
	for _, c := range []struct {
		path  string
		value any
		want  string
	}{
		{"network.trees", 0, "model.json: network.trees is 0, network.nodes"},
		{"network.trees", 1 << 30, "network.trees is 1073741824"},
		{"network.trees", 1 << 20, "model.safetensors: forest.nodes: 1048576 trees of"},
		{"network.nodes", 9_000_000, "by model.json it is [9000000 4]"},
		{"network.leaves", nil, "network.leaves 0, want 1"},
		{"network.leaves", 9_000_000, "by model.json it is [9000000 3]"},
		{"network.name", "linear", "model.safetensors: no classifier.weight"},
		{"network.name", "boosting", "model.safetensors: no boosting.nodes"},
	} {
		_, err := model.Trust{}.Open(edited(t, architecture.Forest, within(c.path, c.value)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: error %v, want one with %q", c.path, c.value, err, c.want)
		}
	}
}

// So are boosting's.
func TestHostileBoosting(t *testing.T) {
	for _, c := range []struct {
		place int
		value float32
		want  string
	}{
		{0, 1e6, "asks for column 1e+06 of 4"}, {1, float32(math.NaN()), "has the threshold NaN"},
		{2, 0, "goes on at 0, want 1"}, {3, 1e6, "goes on at 1e+06"}, {4, 0.5, "goes on at 0.5"},
	} {
		m := makeModel(t, describe(architecture.Boosting, 4))
		b := grown(architecture.Boosting, 4).(boosting.Model)
		b.Nodes[c.place] = c.value
		m.Weights = model.Learnt(b).Weights
		if _, err := (model.Trust{}).Open(save(t, m)); err == nil || !strings.Contains(err.Error(), "model.safetensors: boosting.nodes: node 0 "+c.want) {
			t.Errorf("number %d is %v: error %v, want %q", c.place, c.value, err, c.want)
		}
	}
}

// Nodes of a forest that lead nowhere, or round, are an error before a row is passed through them.
func TestHostileForest(t *testing.T) {
	for i, want := range map[int]string{0: "asks for column 1e+06 of 4", 2: "goes on at 1e+06", 1: ""} {
		m := makeModel(t, describe(architecture.Forest, 4))
		f := grown(architecture.Forest, 4).(forest.Forest)
		f.Nodes[i] = 1e6
		m.Weights = model.Learnt(f).Weights
		if _, err := (model.Trust{}).Open(save(t, m)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), "model.safetensors: forest.nodes: node 0 "+want)) {
			t.Errorf("number %d: error %v, want %q", i, err, want)
		}
		f.Nodes[i] = 0 // the node itself
		m.Weights = model.Learnt(f).Weights
		if _, err := (model.Trust{}).Open(save(t, m)); i == 2 && (err == nil || !strings.Contains(err.Error(), "goes on at 0, want 1")) {
			t.Errorf("a circle: error %v", err)
		}
	}
}

func TestSyntaxErrorsNameTheLine(t *testing.T) {
	folder := t.TempDir()
	testfiles.Write(t, filepath.Join(folder, model.MetadataFile), "{\n  \"format\": 1,\n  oops\n}\n")
	must.Refuse(model.Trust{}.Open(folder))(t, "model.json: line 3: ")
	if _, err := model.ReadMetadata(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestWeightsOfAnotherNetwork(t *testing.T) {
	folder := save(t, makeModel(t, describe(architecture.MLP, 4)))
	other := save(t, makeModel(t, describe(architecture.LeNet, 1, 28, 28)))
	must.Do(t, os.Rename(filepath.Join(other, model.WeightsFile), filepath.Join(folder, model.WeightsFile)))
	must.Refuse(model.Trust{}.Open(folder))(t, "model.safetensors: no hidden1.weight")
	about := describe(architecture.MLP, 4)
	m := makeModel(t, about)
	m.Shares.Source = nil
	missing := filepath.Join(t.TempDir(), "none")
	must.Fail(t, model.Save(missing, m), "model.json: shares.source has 0 values")
	if _, err := os.Stat(missing); err == nil {
		t.Error("a folder was made of what cannot be read again")
	}
}

func TestNormalise(t *testing.T) {
	about := describe(architecture.MLP, 2)
	about.Normalisation.Target = &normalise.Statistics{Mean: []float32{1, -2}, Deviation: []float32{2, 4}}
	rows := []float32{3, 2, 1, -6}
	about.Normalise(rows)
	if want := []float32{1, 1, 0, -1}; !slices.Equal(rows, want) {
		t.Errorf("standardised %v, want %v", rows, want)
	}
	about.Normalisation.Target.Low, about.Normalisation.Target.High = []float32{-1, -10}, []float32{2, math.MaxFloat32}
	rows = []float32{3, 2, -5, -18}
	about.Normalise(rows)
	if want := []float32{0.5, 1, -1, -2}; !slices.Equal(rows, want) {
		t.Errorf("clipped and standardised %v, want %v", rows, want)
	}
	image := describe(architecture.ResNet18, 3, 1, 2)
	image.Normalisation.Target = &normalise.Statistics{Mean: []float32{0, 1, 2}, Deviation: []float32{1, 2, 0.5}}
	rows = []float32{1, 2, 3, 5, 2, 3}
	image.Normalise(rows)
	if want := []float32{1, 2, 1, 2, 0, 2}; !slices.Equal(rows, want) {
		t.Errorf("an image becomes %v, want %v", rows, want)
	}
}

// With logits ln p, no calibration and the classifier's shares e, the corrected
// probabilities are proportional to p·q/e.
func TestProbabilities(t *testing.T) {
	about := describe(architecture.MLP, 4)
	about.Calibration = nil
	logits := []float32{float32(math.Log(0.2)), float32(math.Log(0.3)), float32(math.Log(0.5))}
	check := func(what string, shares, want []float64) {
		t.Helper()
		got := must.Have(about.Probabilities(logits, shares))(t)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				t.Fatalf("%s: %v, want %v", what, got, want)
			}
		}
	}
	check("uncorrected", nil, []float64{0.2, 0.3, 0.5})
	// 0.2·0.5/0.25, 0.3·0.5/0.25, 0
	check("two classes", []float64{0.5, 0.5, 0}, []float64{0.4, 0.6, 0})
	// scaled by 1, 2, 1 and shifted by ln 2, ln 5, 0: 0.4, 0.45, 0.5
	about.Calibration = &model.Calibration{Scales: []float64{1, 2, 1}, Biases: []float64{math.Log(2), math.Log(5), 0}}
	check("calibrated", nil, []float64{0.4 / 1.35, 0.45 / 1.35, 0.5 / 1.35})
	check("calibrated and corrected", []float64{0, 0.5, 0.5}, []float64{0, 0.9 / 1.4, 0.5 / 1.4})
	must.Refuse(about.Probabilities(logits, []float64{0.5, 0.5}))(t, "2 values for 3 classes")
}

// The names in the file are those of PyTorch's modules.
func TestNamesOfWeights(t *testing.T) {
	torch.Tidy(func() {
		folder := save(t, makeModel(t, describe(architecture.LeNet, 1, 28, 28)))
		content := testfiles.Read(t, filepath.Join(folder, model.WeightsFile))
		tensors, metadata := must.Both(torch.ParseTensors(content))(t)
		names := slices.Sorted(maps.Keys(tensors))
		want := []string{
			"classifier.bias", "classifier.weight", "conv_params.0.bias", "conv_params.0.weight", "conv_params.3.bias",
			"conv_params.3.weight", "fc_params.0.bias", "fc_params.0.weight",
		}
		if !slices.Equal(names, want) || metadata["format"] != "pt" {
			t.Errorf("names %v, metadata %v", names, metadata)
		}
	})
}

// A module of TorchScript is a program that ONNX cannot hold, and only the one that the
// model was trained with is its backbone.
func TestTorchScriptModel(t *testing.T) {
	about := scripted(t, "backbone.pt", 3, 7, 7)
	about.Architecture.Frozen = true
	m := makeModel(t, about)
	var out bytes.Buffer
	if err := model.WriteONNX(&out, []model.Model{m}, [][]float64{m.Shares.Target}); err == nil || !strings.Contains(err.Error(), "TorchScript module") || out.Len() > 0 {
		t.Errorf("error %v, %d bytes", err, out.Len())
	}
	folder := save(t, m)
	other := testfiles.Read(t, filepath.Join("..", "..", "testdata", "torchscript", "frozen.pt"))
	testfiles.Write(t, filepath.Join(folder, model.BackboneFile), string(other))
	must.Refuse((model.Trust{Inside: true}).Open(folder))(t, "it had "+m.Architecture.Backbone.SHA256)
}

func TestONNXRefusesOtherShares(t *testing.T) {
	var out bytes.Buffer
	m := makeModel(t, describe(architecture.MLP, 4))
	err := model.WriteONNX(&out, []model.Model{m, m}, [][]float64{m.Shares.Target, {0.5, 0.4, 0.05}})
	if err == nil || !strings.Contains(err.Error(), "shares to correct for: sums to") || out.Len() > 0 {
		t.Errorf("error %v, %d bytes", err, out.Len())
	}
}
