//go:build onnx

package model_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"iwda/datasets/normalise"
	"iwda/experiments/model"
	"iwda/internal/convert"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/nets/architecture"
	"iwda/torch"
)

const clientRows = 100

// clientCase is a model with rows and what iwda computes of them.
type clientCase struct {
	name, folder, input             string
	about                           model.Metadata
	shape                           []int
	features, logits, probabilities []float64
}

// eachModel writes a model of every kind of network that is ours, and of others, and its
// rows, into a folder.
func eachModel(t *testing.T, f func(t *testing.T, c clientCase, m model.Model), others ...model.Metadata) {
	frozen := describe(architecture.ResNet18, 3, 40, 33)
	frozen.Architecture.Frozen = true
	scaled := describe(architecture.MLP, 12)
	scaled.Calibration = nil
	plain := describe(architecture.MLP, 12)
	plain.Normalisation, plain.Architecture.HiddenLayers = normalise.Normalisation{Kind: normalise.None}, 1
	clipped := describe(architecture.MLP, 11)
	clipped.Normalisation.Target.Low, clipped.Normalisation.Target.High = slices.Repeat([]float32{-0.4}, 11), slices.Repeat([]float32{1}, 11)
	for _, about := range append([]model.Metadata{
		describe(architecture.LeNet, 1, 28, 28), describe(architecture.MLP, 12), scaled, plain, clipped, frozen, describe(architecture.Forest, 12), describe(architecture.Boosting, 12), describe(architecture.Perceptron, 12),
		describe(architecture.ResNet18, 3, 32, 32), describe(architecture.ResNet34, 3, 32, 32), describe(architecture.ResNet50, 3, 32, 32),
		describe(architecture.ResNet101, 3, 32, 32), describe(architecture.ResNet152, 3, 32, 32),
	}, others...) {
		name := fmt.Sprintf("%s-%s-%d-%s-frozen=%v", about.Architecture.Name, about.Input.Kind, about.Input.Shape[0], about.Normalisation.Kind, about.Architecture.Frozen)
		t.Run(name, func(t *testing.T) {
			torch.Tidy(func() {
				m := makeModel(t, about)
				c := clientCase{name: name, folder: save(t, m), about: about, shape: append([]int{clientRows}, about.Input.Shape...)}
				values := torch.ToSlice[float32](torch.RandN(torch.Float32, c.shape...))
				c.input = filepath.Join(c.folder, "input")
				bytes := must.Have(binary.Append(nil, binary.LittleEndian, values))(t)
				testfiles.Write(t, c.input, string(bytes))
				about.Normalise(values)
				torch.NoGrad(func() {
					features, logits := outputsOf(m, values, c.shape...)
					c.features, c.logits = convert.Slice[float64](features), convert.Slice[float64](logits)
					c.probabilities = must.Have(about.Probabilities(logits, about.Shares.Target))(t)
				})
				if !slices.ContainsFunc(c.probabilities, func(p float64) bool { return p > 0.1 && p < 0.9 }) {
					t.Error("every probability is near 0 or 1: they say little")
				}
				f(t, c, m)
			})
		})
	}
}

// outputsOf are the features and logits of rows that are normalised. Those of a perceptron are an MLP's.
func outputsOf(m model.Model, values []float32, shape ...int) (features, logits []float32) {
	name := m.Architecture.Name
	if name == architecture.Perceptron {
		m.Architecture.Name = architecture.MLP
	} else if own := m.Logits(true); own != nil {
		return values, own(values)
	}
	x, y := networkOf(m).Forward(torch.FromSlice(values, shape...), false)
	return torch.ToSlice[float32](x), torch.ToSlice[float32](y)
}

// within compares two lists, up to 1e-5 of the largest value or of 1.
func within(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	largest, worst := 1.0, 0.0
	for i, v := range want {
		largest, worst = max(largest, math.Abs(v)), max(worst, math.Abs(got[i]-v))
	}
	if !(worst <= 1e-5*largest) {
		t.Errorf("%s: differ by %v of %v", what, worst, largest)
	}
}

func run(t *testing.T, name string, arguments ...string) {
	t.Helper()
	if out, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// TestONNXRuntime runs the files in ONNX Runtime's package for Node, which
// $IWDA_NODE_MODULES must hold.
func TestONNXRuntime(t *testing.T) {
	eachModel(t, func(t *testing.T, c clientCase, m model.Model) {
		file, output := filepath.Join(c.folder, "model.onnx"), filepath.Join(c.folder, "output.json")
		out := must.Have(os.Create(file))(t)
		must.Do(t, model.WriteONNX(out, []model.Model{m}, [][]float64{c.about.Shares.Target}))
		must.Do(t, out.Close())
		arguments := []string{filepath.Join("testdata", "onnx.js"), os.Getenv("IWDA_NODE_MODULES"), file, c.input, output}
		for _, n := range c.shape {
			arguments = append(arguments, fmt.Sprint(n))
		}
		run(t, "node", arguments...)
		var got struct {
			Inputs                          []string
			Features, Logits, Probabilities struct {
				Shape  []int
				Values []float64
			}
		}
		testfiles.ReadJSON(t, output, &got)
		if !slices.Equal(got.Inputs, []string{"input"}) || !slices.Equal(got.Probabilities.Shape, []int{clientRows, 3}) {
			t.Errorf("inputs %v, probabilities of shape %v", got.Inputs, got.Probabilities.Shape)
		}
		within(t, "features", got.Features.Values, c.features)
		within(t, "logits", got.Logits.Values, c.logits)
		within(t, "probabilities", got.Probabilities.Values, c.probabilities)
	})
	t.Run("together", func(t *testing.T) {
		c := ensemble(t)
		members := must.Have(model.Trust{Inside: true}.OpenEnsemble(c.folder))(t)
		file, output := filepath.Join(c.folder, "model.onnx"), filepath.Join(c.folder, "output.json")
		out := must.Have(os.Create(file))(t)
		must.Do(t, errors.Join(model.WriteONNX(out, members, [][]float64{members[0].Shares.Target, members[1].Shares.Target, members[2].Shares.Target}), out.Close()))
		run(t, "node", filepath.Join("testdata", "onnx.js"), os.Getenv("IWDA_NODE_MODULES"), file, c.input, output, fmt.Sprint(clientRows), "12")
		var got struct{ Probabilities struct{ Values []float64 } }
		testfiles.ReadJSON(t, output, &got)
		within(t, "probabilities", got.Probabilities.Values, c.probabilities)
	})
}

// ensemble is a case of models that predict together, with other shares and statistics, one of them a
// forest.
func ensemble(t *testing.T) clientCase {
	t.Helper()
	first, second := describe(architecture.MLP, 12), describe(architecture.MLP, 12)
	second.Shares.Target, second.Architecture.HiddenLayers = []float64{0.125, 0.25, 0.625}, 1
	second.Normalisation.Target.Mean[3] = 2
	c := clientCase{folder: saveMembers(t, map[string]model.Metadata{"seed-1": first, "seed-20": second, "seed-30": describe(architecture.Forest, 12)})}
	members := must.Have(model.Trust{Inside: true}.OpenEnsemble(c.folder))(t)
	c.probabilities = make([]float64, 3*clientRows)
	torch.Tidy(func() {
		torch.NoGrad(func() {
			rows := torch.ToSlice[float32](torch.RandN(torch.Float32, clientRows, 12))
			c.input = filepath.Join(c.folder, "input")
			bytes := must.Have(binary.Append(nil, binary.LittleEndian, rows))(t)
			testfiles.Write(t, c.input, string(bytes))
			for _, m := range members {
				values := slices.Clone(rows)
				m.Normalise(values)
				_, logits := outputsOf(m, values, clientRows, 12)
				p := must.Have(m.Probabilities(logits, m.Shares.Target))(t)
				for i, v := range p {
					c.probabilities[i] += v / float64(len(members))
				}
			}
		})
	})
	return c
}

// TestPyTorch reads the folders with the words of docs/reference/model.md and with the Python package, in the
// system's Python, which must have torch and torchvision.
func TestPyTorch(t *testing.T) {
	document := testfiles.Read(t, filepath.Join("..", "..", "docs", "reference", "model.md"))
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(document), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of Python in docs/reference/model.md, want 2", len(blocks))
	}
	working := must.Have(os.Getwd())(t)
	script := filepath.Join(t.TempDir(), "client.py")
	text := blocks[0][1] + blocks[1][1] + strings.ReplaceAll(`
import sys
folder, output, *shape = sys.argv[1:]
rows = torch.frombuffer(bytearray(open(folder + "/input", "rb").read()), dtype=torch.float32).reshape([int(n) for n in shape])
sys.path.insert(0, PACKAGE)
import iwda
made = {"predicted": predict(folder, rows), "loaded": torch.from_numpy(iwda.load(folder, run_module=True).predict_proba(rows))}
if not glob.glob(folder + "/seed-*"):
    about, state = load(folder)
    made["plain"] = probabilities(folder, rows)
    if about["network"].get("hidden_layers") == 1:
        mlp = MLP(about["input"]["shape"][0], about["network"]["hidden_size"], len(about["classes"]))
        mlp.load_state_dict(state)
        made["logits"] = mlp(rows)
json.dump({name: values.flatten().tolist() for name, values in made.items()}, open(output, "w"))
`, "PACKAGE", strconv.Quote(filepath.Join(working, "..", "..", "python")))
	testfiles.Write(t, script, text)
	t.Run("together", func(t *testing.T) {
		c := ensemble(t)
		output := filepath.Join(c.folder, "output.json")
		run(t, "/usr/bin/python3", script, c.folder, output, fmt.Sprint(clientRows), "12")
		var got struct{ Predicted, Loaded []float64 }
		testfiles.ReadJSON(t, output, &got)
		within(t, "probabilities", got.Predicted, c.probabilities)
		within(t, "probabilities by iwda.load", got.Loaded, c.probabilities)
	})
	frozen := scripted(t, "frozen.pt", 3, 7, 7)
	frozen.Architecture.Frozen = true
	eachModel(t, func(t *testing.T, c clientCase, _ model.Model) {
		output := filepath.Join(c.folder, "output.json")
		arguments := []string{script, c.folder, output}
		for _, n := range c.shape {
			arguments = append(arguments, fmt.Sprint(n))
		}
		run(t, "/usr/bin/python3", arguments...)
		var got struct{ Predicted, Loaded, Plain, Logits []float64 }
		testfiles.ReadJSON(t, output, &got)
		within(t, "corrected probabilities", got.Predicted, c.probabilities)
		within(t, "corrected probabilities by iwda.load", got.Loaded, c.probabilities)
		plain := must.Have(c.about.Probabilities(convert.Slice[float32](c.logits), nil))(t)
		within(t, "probabilities", got.Plain, plain)
		if strings.HasPrefix(c.name, "mlp-features-none") {
			within(t, "logits of the mlp of ten lines", got.Logits, c.logits)
		}
	}, scripted(t, "backbone.pt", 3, 7, 7), scripted(t, "shared.pt", 6), scripted(t, "vectors.pt", 2), frozen)
}
