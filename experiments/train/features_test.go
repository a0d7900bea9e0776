package train

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// gaussians draws a label-shift problem: ten classes on a ring, as two numbers that
// eighteen others hide; the target is turned and moved, and its classes are rare where the
// source's are frequent. It returns an experiment on them, and the folder where they are.
func gaussians(t testing.TB) (text, root string) {
	t.Helper()
	return widerGaussians(t, 20)
}

// widerGaussians is [gaussians] with rows of that size.
func widerGaussians(t testing.TB, size int) (text, root string) {
	t.Helper()
	root = t.TempDir()
	random := rand.New(rand.NewPCG(7, 7))
	const classes = 10
	for _, domain := range []string{"flat", "turned", "turned-test"} {
		var values []float32
		var labels []int
		for class := range classes {
			n := 150
			if domain == "flat" && class < classes/2 {
				n = 15
			}
			for range n {
				angle := 2 * math.Pi * float64(class) / classes
				if domain != "flat" {
					angle += 0.22
				}
				row := make([]float32, size)
				for i := range row {
					row[i] = float32(0.5 * random.NormFloat64())
				}
				row[0] += float32(3 * math.Cos(angle))
				row[1] += float32(3 * math.Sin(angle))
				if domain != "flat" {
					row[2] += 1.5
				}
				values, labels = append(values, row...), append(labels, class)
			}
		}
		testfiles.Rows(t, filepath.Join(root, domain+".npz"), size, values, "labels", labels)
	}
	return strings.ReplaceAll(features, "ROOT", root), root
}

const features = `
experiment: features
dataset:
  name: files
  root: ROOT
  domains:
    flat: {path: flat.npz}
    turned: {path: turned.npz, test: turned-test.npz}
    marked: {path: marked.npz}
    clean: {path: clean.npz}
    warped: {path: warped.npz, test: warped-test.npz}
tasks: [flat-turned]
variants: [full]
methods: [source-only, dann, iwdan, iwdan-o, cdan, iwcdan, jan, iwjan, iwjan-o]
seeds: [1, 2]
network: {name: mlp, features: 64, layers: 2}
discriminator: {hidden: 64, reversal: {iterations: 150}}
train: {epochs: 10, batch: 32, optimizer: {lr: 0.01}, schedule: {every: 4}}
`

// On features with a label shift, every importance-weighted method is better than its
// base at the end.
func TestWeightsHelpOnFeatures(t *testing.T) {
	text, _ := gaussians(t)
	last := func(method string) float64 {
		_, result := train(t, resolveText(t, text, "full", method, 1))
		return result.LastAccuracy.Value
	}
	for weighted, base := range map[string]string{"iwdan": "dann", "iwcdan": "cdan", "iwjan": "jan"} {
		if a, b := last(weighted), last(base); a <= b {
			t.Errorf("%s %.3f, %s %.3f", weighted, a, base, b)
		}
	}
}

// A value that no network learns from is an error before the first step, which names the set and
// the column.
func TestValuesThatAreTooLarge(t *testing.T) {
	text, root := gaussians(t)
	values, labels := make([]float32, 0, 3000), make([]int, 0, 1000)
	for i := range 1000 {
		values, labels = append(values, float32(i%7), float32(i%13), float32(i%11)), append(labels, i%10)
	}
	values[4], values[7] = 3e38, -3e38 // column 1
	testfiles.Rows(t, filepath.Join(root, "marked.npz"), 3, values, "labels", labels)
	run := resolveText(t, strings.Replace(text, "flat-turned", "marked-marked", 1), "full", "dann", 1)
	must.Refuse(openData(run))(t, "marked.npz: column 1: a value is 3e+38 where the network reads it (normalised: none), beyond ±1e+18")
	// Standardised they are some deviations from the mean, which is no error.
	run.Network.Normalise = "standard"
	d := opened(t, run)
	if err := d.close(); err != nil {
		t.Error(err)
	}
}
