package onnx_test

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"iwda/datasets"
	"iwda/datasets/images"
	"iwda/datasets/normalise"
	"iwda/internal/must"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/nets/onnx"
	"iwda/torch"
)

// Rows of the target are the same to the network in training, once the normalisation was
// written and read again, and by the file of ONNX, whose lengths of rows are float32.
func TestRowsOfTheTargetAreTheSameEverywhere(t *testing.T) {
	const rows, size = 240, 5
	random := rand.New(rand.NewPCG(1, 2))
	domain := func(move float64) *datasets.Features {
		values, labels := make([]float32, rows*size), make([]int, rows)
		for i := range values {
			labels[i/size] = i / size % 3
			values[i] = float32(random.NormFloat64() + move + 2*float64(labels[i/size]*(i%size)))
		}
		values[7] = -1e6
		for i := range rows {
			values[i*size+4] = float32(move) * values[i*size+4] // constant in one domain
		}
		return must.Have(datasets.NewFeatures("domain", values, datasets.KnownLabels(labels), []string{"a", "b", "c"}))(t)
	}
	source, target := domain(0), domain(1)
	raw := slices.Concat(rowsOf(target)...)
	for _, how := range []normalise.Settings{
		{}, {Way: normalise.OfSource}, {Way: normalise.Standard}, {Way: normalise.Matched},
		{Way: normalise.OfSource, Clip: 2}, {Way: normalise.Standard, Clip: 2}, {Way: normalise.Matched, Clip: 2},
	} {
		n := must.Have(normalise.Fit(how, source, target))(t)
		if clipped := n.Target != nil && n.Target.Low != nil; clipped != (how.Clip > 0) {
			t.Errorf("%+v: clipped %v", how, clipped)
		}
		network := nets.NewMLP(size, nil, 4, 3, 0)
		m := onnx.Model{Architecture: architecture.MLP, InputShape: []int{size}, Parameters: parameters(network.State())}
		sameEverywhere(t, fmt.Sprintf("%+v", how), n, m, raw, slices.Concat(rowsOf(n.OnTarget(target))...))
	}
}

// So are images: those of bytes in memory, and of files.
func TestPixelsAreTheSameEverywhere(t *testing.T) {
	bytes := make([]byte, 28*28)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	pixels := make([]float32, len(bytes))
	for i, b := range bytes {
		pixels[i] = float32(b) / 255
	}
	small := must.Have(datasets.NewImages("small", []int{1, 28, 28}, []string{"a"}, bytes, datasets.KnownLabels([]int{0})))(t)
	lenet := onnx.Model{Architecture: architecture.LeNet, InputShape: []int{1, 28, 28}, Parameters: parameters(nets.NewLeNet(1, 3).State())}
	sameEverywhere(t, "small", normalise.Channels([]float32{0.5}, []float32{0.5}), lenet, pixels, rowsOf(small)[0])

	const side = 32
	picture := image.NewRGBA(image.Rect(0, 0, side, side))
	pixels = make([]float32, 3*side*side)
	for i := range side * side {
		channels := [3]byte{byte(i), byte(3 * i), byte(255 - i)}
		picture.Set(i%side, i/side, color.RGBA{channels[0], channels[1], channels[2], 255})
		for c, b := range channels {
			pixels[c*side*side+i] = float32(b) / 255
		}
	}
	folder := t.TempDir()
	file := must.Have(os.Create(filepath.Join(folder, "a.png")))(t)
	defer file.Close()
	must.Do(t, png.Encode(file, picture))
	set := must.Have(images.OpenUnlabelled(folder))(t)
	reader := must.Have(images.NewReader(set, images.ReaderOptions{Side: side}))(t)
	mean, deviation := images.Normalisation()
	network := nets.NewFineTuned(resnet(t, 18), 3)
	m := onnx.Model{Architecture: architecture.ResNet18, InputShape: []int{3, side, side}, Parameters: parameters(network.State())}
	for b, err := range reader.Batches(t.Context(), images.ViewOptions{BatchSize: 1, Crop: side}) {
		if err != nil {
			t.Fatal(err)
		}
		sameEverywhere(t, "files", normalise.Channels(mean[:], deviation[:]), m, pixels, b.Values)
	}
}

func rowsOf(set datasets.Set) [][]float32 {
	rows := make([][]float32, set.Len())
	for i := range rows {
		rows[i] = make([]float32, datasets.Size(set.Shape()))
		set.CopyRow(rows[i], i)
	}
	return rows
}

// sameEverywhere compares raw rows, normalised as a model that was read does and as a file
// does, with those that training sees.
func sameEverywhere(t *testing.T, what string, n normalise.Normalisation, m onnx.Model, raw, want []float32) {
	t.Helper()
	text := must.Have(json.Marshal(n))(t)
	must.Do(t, json.Unmarshal(text, &m.Normalisation))
	got := slices.Clone(raw)
	m.Normalisation.Rows(got, datasets.Size(m.InputShape))
	if !slices.Equal(got, want) {
		t.Errorf("%s: another row to a model that was read than in training", what)
	}
	torch.Tidy(func() {
		f := encode(t, m)
		rows := len(raw) / datasets.Size(m.InputShape)
		values := f.run(t, torch.FromSlice(raw, append([]int{rows}, m.InputShape...)...))
		first := slices.IndexFunc(f.nodes, func(n decodedNode) bool { return n.operator == "Gemm" || n.operator == "Conv" })
		for i, v := range torch.ToSlice[float32](values[f.nodes[first].inputs[0]]) {
			if v != want[i] {
				t.Fatalf("%s: value %d is %v in the file, %v in training", what, i, v, want[i])
			}
		}
	})
}
