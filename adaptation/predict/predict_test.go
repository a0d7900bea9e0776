package predict

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"iwda/datasets"
	"iwda/datasets/images"
	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/engine"
	"iwda/experiments/engine/serve"
	"iwda/experiments/model"
	"iwda/experiments/network"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// makeModel returns a model with random weights.
func makeModel(t testing.TB, about model.Metadata) model.Model {
	t.Helper()
	torch.Seed(5)
	k := len(about.Classes)
	uniform := slices.Repeat([]float64{1 / float64(k)}, k)
	about.Format, about.Shares = 1, model.Shares{Source: uniform, Classifier: uniform}
	network, _, err := nets.New(about.Architecture.Name, nets.Settings{
		Classes: k, RowShape: about.Input.Shape,
		HiddenLayers: about.Architecture.HiddenLayers, HiddenSize: about.Architecture.HiddenSize,
	})
	if err != nil {
		t.Fatal(err)
	}
	return onDisk(t, about, network)
}

// onDisk is a model of a network in a folder of its own.
func onDisk(t testing.TB, about model.Metadata, network nets.Network) model.Model {
	t.Helper()
	folder := t.TempDir()
	err := wholefile.Write(filepath.Join(folder, model.WeightsFile), func(w io.Writer) error {
		var tensors []torch.Named
		for _, e := range network.State() {
			tensors = append(tensors, torch.Named{Name: e.Name, Tensor: e.Tensor})
		}
		return torch.WriteTensors(w, tensors, nil)
	})
	must.Do(t, errors.Join(err, about.Write(nil, folder)))
	return must.Have(model.OpenUnasked(folder))(t)
}

// networkOf is the network of a model.
func networkOf(t testing.TB, m model.Model) nets.Network {
	t.Helper()
	return must.Have(network.New(m, ""))(t)
}

// iwrunTorch is this binary; see TestMain.
var iwrunTorch = &engine.Process{Log: os.Stderr}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == strconv.Itoa(engine.Protocol) { // as iwrun-torch, which this process finds here
		os.Exit(serve.Run(os.Args[1:], serve.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Gone: func() { os.Exit(1) }}))
	}
	this, err := os.Executable()
	if err = errors.Join(err, os.Setenv(engine.Variable, this)); err != nil {
		panic(err)
	}
	status := m.Run()
	iwrunTorch.Close()
	os.Exit(status)
}

func mlp(size, hidden, classes int) model.Metadata {
	about := model.Metadata{
		Architecture:  model.Architecture{Name: architecture.MLP, HiddenLayers: 1, HiddenSize: hidden},
		Input:         model.Input{Kind: model.Features, Shape: []int{size}},
		Normalisation: normalise.Normalisation{Kind: normalise.None},
	}
	for class := range classes {
		about.Classes = append(about.Classes, fmt.Sprint(class))
	}
	return about
}

// npy is the content of a file of float32.
func npy(rows, width int, values []float32) []byte {
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, width)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	file = append(file, header...)
	file, err := binary.Append(file, binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	return file
}

// Rows are standardised with the target's statistics, by libtorch and, without it, by a learner's network.
func TestStandardised(t *testing.T) {
	t.Run("with libtorch", func(t *testing.T) { standardised(t, iwrunTorch) })
	t.Run("without", func(t *testing.T) { standardised(t, nil) })
}

func standardised(t *testing.T, with *engine.Process) {
	about := mlp(2, 4, 3)
	about.Normalisation = normalise.Normalisation{Kind: normalise.Standard,
		Source: &normalise.Statistics{Mean: []float32{9, 9}, Deviation: []float32{9, 9}},
		Target: &normalise.Statistics{Mean: []float32{1, -2}, Deviation: []float32{2, 0.5}}}
	m := makeModel(t, about)
	path := filepath.Join(t.TempDir(), "rows.npy")
	testfiles.Write(t, path, string(npy(3, 2, []float32{3, -2, 1, -1, -1, -3})))
	input := must.Have(Open(path, table.Roles{}, "model", m.Metadata))(t)
	var got []float32
	p := NewEnsemble([]model.Model{m}, Options{Torch: with, Threads: 1, Batch: 2})
	must.Do(t, p.Each(context.Background(), []Input{input}, [][]float64{nil}, func(id string, probabilities []float32) error {
		if want := fmt.Sprint(len(got) / 3); id != want {
			t.Errorf("id %q, want %q", id, want)
		}
		got = append(got, probabilities...)
		return nil
	}))
	torch.Tidy(func() {
		_, logits := networkOf(t, m).Forward(torch.FromSlice([]float32{1, 0, 0, 2, -1, -2}, 3, 2), false)
		near(t, got, torch.ToSlice[float32](logits.Softmax(1)))
	})
}

// Rows without ids are numbered over all inputs, those with ids keep theirs.
func TestIDsOverInputs(t *testing.T) {
	m := makeModel(t, mlp(2, 4, 3))
	folder := t.TempDir()
	var inputs []Input
	for _, file := range []struct{ name, text string }{
		{"a.csv", "x,y\n1,2\n3,4\n5,6\n"}, {"b.csv", "id,x,y\nq,1,2\n1,3,4\n"}, {"c.csv", "x,y\n1,2\n3,4\n5,6\n"},
	} {
		path := filepath.Join(folder, file.name)
		testfiles.Write(t, path, file.text)
		input := must.Have(Open(path, table.Roles{}, "model", m.Metadata))(t)
		inputs = append(inputs, input)
	}
	var got []string
	p := NewEnsemble([]model.Model{m}, Options{Torch: iwrunTorch, Threads: 1, Batch: 2})
	must.Do(t, p.Each(context.Background(), inputs, [][]float64{nil}, func(id string, _ []float32) error {
		got = append(got, id)
		return nil
	}))
	if want := []string{"0", "1", "2", "q", "1", "5", "6", "7"}; !slices.Equal(got, want) {
		t.Errorf("ids %q, want %q", got, want)
	}
}

func near(t *testing.T, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i := range want {
		if d := got[i] - want[i]; d > 1e-6 || d < -1e-6 {
			t.Fatalf("value %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// Images of a folder and of a list are those that a reader's test views show.
func TestImages(t *testing.T) {
	root := t.TempDir()
	testfiles.MakeFolder(t, filepath.Join(root, "deep", "er"))
	for i, name := range []string{"a.png", "deep/b.png", "deep/er/c d.png"} {
		picture := image.NewGray(image.Rect(0, 0, 50, 40))
		for x := range 50 {
			for y := range 40 {
				picture.SetGray(x, y, color.Gray{Y: byte(x * (i + 2) % 256)})
			}
		}
		var file bytes.Buffer
		must.Do(t, png.Encode(&file, picture))
		testfiles.Write(t, filepath.Join(root, filepath.FromSlash(name)), file.String())
	}
	list := filepath.Join(root, "list.txt")
	testfiles.Write(t, list, "deep/er/c d.png 1\n\na.png\n")
	mean, deviation := images.Normalisation()
	about := model.Metadata{
		Architecture:  model.Architecture{Name: architecture.ResNet18},
		Input:         model.Input{Kind: model.Images, Shape: []int{3, 32, 32}, Resize: 36},
		Classes:       []string{"x", "y"},
		Normalisation: normalise.Normalisation{Kind: normalise.Standard, Target: &normalise.Statistics{Mean: mean[:], Deviation: deviation[:]}},
	}
	m := makeModel(t, about)
	p := NewEnsemble([]model.Model{m}, Options{Torch: iwrunTorch, Threads: 1, Batch: 2})
	probabilities := map[string]float32{}
	for _, c := range []struct {
		place string
		ids   []string
	}{{root, []string{"a.png", "deep/b.png", "deep/er/c d.png"}}, {list, []string{"deep/er/c d.png", "a.png"}}, {filepath.Join(root, "a.png"), []string{"a.png"}}} {
		input := must.Have(Open(c.place, table.Roles{}, "model", m.Metadata))(t)
		var ids []string
		must.Do(t, p.Each(context.Background(), []Input{input}, [][]float64{nil}, func(id string, row []float32) error {
			ids = append(ids, id)
			if first, seen := probabilities[id]; seen && (row[0]-first > 1e-6 || first-row[0] > 1e-6) {
				t.Errorf("%s: probability %v in the list, %v in the folder", id, row[0], first)
			}
			probabilities[id] = row[0]
			return nil
		}))
		if !slices.Equal(ids, c.ids) {
			t.Errorf("ids %q, want %q", ids, c.ids)
		}
		must.Do(t, input.Close())
	}
	drawing := filepath.Join(root, "a.gif")
	testfiles.Write(t, drawing, "GIF89a")
	must.Refuse(Open(drawing, table.Roles{}, "model", m.Metadata))(t, "a.gif: the model is for images: name .jpg")
	// The values themselves: what a reader shows is not normalised once more.
	set := must.Have(images.OpenUnlabelled(root))(t)
	reader := must.Have(images.NewReader(set, images.ReaderOptions{Side: 36}))(t)
	for b, err := range reader.Batches(context.Background(), images.ViewOptions{BatchSize: 3, Crop: 32}) {
		if err != nil {
			t.Fatal(err)
		}
		torch.Tidy(func() {
			_, logits := networkOf(t, m).Forward(torch.FromSlice(b.Values, 3, 3, 32, 32), false)
			want := torch.ToSlice[float32](logits.Softmax(1))
			for i := range 3 {
				near(t, []float32{probabilities[set.ID(i)]}, want[2*i:2*i+1])
			}
		})
	}
}

// BenchmarkRows predicts rows of 512 values with an mlp of 256 units and 10 classes on
// one thread, from a file of .npy to probabilities, and reports as "value" the rows that
// it does in a second.
func BenchmarkRows(b *testing.B) {
	const size = 512
	rows := 50_000
	if testing.Short() {
		rows = 1000
	}
	values := make([]float32, rows*size)
	for i := range values {
		values[i] = float32(i%31)/31 - 0.5
	}
	path := filepath.Join(b.TempDir(), "rows.npy")
	testfiles.Write(b, path, string(npy(rows, size, values)))
	statistics := &normalise.Statistics{Mean: make([]float32, size), Deviation: slices.Repeat([]float32{2}, size)}
	for _, normalisation := range []normalise.Normalisation{{Kind: normalise.None}, {Kind: normalise.Standard, Target: statistics}} {
		b.Run(normalisation.Kind, func(b *testing.B) {
			about := mlp(size, 256, 10)
			about.Normalisation = normalisation
			m := makeModel(b, about)
			p := NewEnsemble([]model.Model{m}, Options{Torch: iwrunTorch, Threads: 1, Batch: DefaultBatch})
			for b.Loop() {
				input := must.Have(Open(path, table.Roles{}, "model", m.Metadata))(b)
				must.Do(b, p.Each(context.Background(), []Input{input}, [][]float64{m.Shares.Source}, func(string, []float32) error { return nil }))
				must.Do(b, input.Close())
			}
			b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "value")
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
		})
	}
}

// Rows come to the network as the model says, to the bit, features and the channels of images
// alike.
func TestRowsAreNormalisedAsTheModelSays(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	statistics := func(size int) *normalise.Statistics {
		s := &normalise.Statistics{Mean: make([]float32, size), Deviation: make([]float32, size)}
		for i := range size {
			s.Mean[i], s.Deviation[i] = float32(random.NormFloat64()), float32(0.1+random.ExpFloat64())
		}
		return s
	}
	for _, shape := range [][]int{{7}, {1, 4, 5}, {3, 4, 5}} {
		for _, n := range []normalise.Normalisation{{Kind: normalise.None}, {Kind: normalise.Standard, Target: statistics(shape[0])}} {
			var about model.Metadata
			about.Input.Shape, about.Normalisation = shape, n
			p := &Predictor{model: model.Model{Metadata: about}}
			want := make([]float32, 6*datasets.Size(shape))
			for i := range want {
				want[i] = float32(3 * random.NormFloat64())
			}
			values := slices.Clone(want)
			about.Normalise(want)
			for _, normalised := range []bool{false, true} {
				if normalised {
					want = slices.Clone(values)
				}
				if got := p.rows(batch{values: slices.Clone(values), rows: 6, normalised: normalised}); !slices.Equal(got, want) {
					t.Errorf("%s of shape %v, normalised before %v: %v, want %v", n.Kind, shape, normalised, got, want)
				}
			}
		}
	}
}
