package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

const common = `experiment: killed
methods: [iwdan]
seeds: [1]
weights: {min_singular_value: 0}
`

var experiments = map[string]string{
	"glyphs.yaml": common + `dataset: {name: glyphs, train_per_class: 20, test_per_class: 6}
tasks: [clean-warped]
variants: [subsampled]
train: {epochs: 6, batch: 16}
`,
	"mlp.yaml": common + `dataset: {name: files, domains: {source: {path: source.csv}, target: {path: target.csv}}}
tasks: [source-target]
variants: [full]
network: {name: mlp, features: 16, layers: 1}
train: {epochs: 20, batch: 20, validation: 0.2}
`,
	"images.yaml": common + `dataset: {name: files, domains: {source: {path: images-source}, target: {path: images-target}}, resize: 24, crop: 20}
tasks: [source-target]
variants: [full]
network: {name: resnet18, pretrained: none, frozen: false, views: 0}
train: {steps: 6, eval_every: 2, batch: 8, validation: 0.3}
`,
}

// writeData writes experiments, rows, predictions and images, the same each time.
func writeData() error {
	random := rand.New(rand.NewPCG(1, 2))
	for name, text := range experiments {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			return err
		}
	}
	for _, domain := range []struct {
		name   string
		labels bool
		share  float64
	}{{"source", true, 0.5}, {"target", true, 0.2}, {"rows", false, 0.2}} {
		rows, predictions := &strings.Builder{}, &strings.Builder{}
		fmt.Fprint(rows, "a,b,c", map[bool]string{true: ",label"}[domain.labels], "\n")
		fmt.Fprint(predictions, "label,probability_no,probability_yes\n")
		for range 400 {
			class, mean := "no", 0.0
			if random.Float64() < domain.share {
				class, mean = "yes", 2
			}
			fmt.Fprintf(rows, "%.4f,%.4f,%.4f", mean+random.NormFloat64(), mean+random.NormFloat64(), random.NormFloat64())
			if domain.labels {
				fmt.Fprint(rows, ",", class)
			}
			fmt.Fprintln(rows)
			p := 0.1 + 0.4*mean*random.Float64()
			fmt.Fprintf(predictions, "%s,%.4f,%.4f\n", class, 1-p, p)
		}
		for name, text := range map[string]string{domain.name + ".csv": rows.String(), domain.name + "-p.csv": predictions.String()} {
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				return err
			}
		}
	}
	for i := range 40 {
		for _, folder := range []string{"images-source", "images-target"} {
			class := []string{"red", "blue"}[i%2]
			if err := drawImage(filepath.Join(folder, class, fmt.Sprintf("%d.png", i)), class, random); err != nil {
				return err
			}
		}
	}
	return nil
}

func drawImage(path, class string, random *rand.Rand) error {
	m := image.NewRGBA(image.Rect(0, 0, 24, 24))
	for y := range 24 {
		for x := range 24 {
			c := color.RGBA{uint8(150 + random.IntN(40)), uint8(60 + random.IntN(40)), uint8(60 + random.IntN(40)), 255}
			if class == "blue" {
				c.R, c.B = c.B, c.R
			}
			m.Set(x, y, c)
		}
	}
	var text bytes.Buffer
	if err := png.Encode(&text, m); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o666)
}
