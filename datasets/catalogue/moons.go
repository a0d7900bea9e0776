package catalogue

import (
	"fmt"
	"math"
	"math/rand/v2"

	"iwda/datasets"
)

// moons are two half circles in the plane, one a class, that reach into each other: rows
// of two numbers, drawn from the seed, small enough for tests and to be drawn in a figure.
// In the domain "turned" they are turned and noisier.
func moons() Dataset {
	d := Dataset{
		Name: "moons", Title: "Two moons", Head: "Moons",
		Kind:    Vectors,
		Classes: []string{"upper", "lower"},
		Domains: []Domain{{Name: "upright", Head: "upright"}, {Name: "turned", Head: "turned"}},
		Settings: `
dataset: {train_per_class: 300, test_per_class: 300}
network: {name: mlp, features: 32, layers: 2}
discriminator: {hidden: 32, reversal: {iterations: 200}}
train: {epochs: 30}`,
		instructions: drawn("Two half circles in the plane, drawn from the seed"),
		open:         drawMoons,
	}
	d.Tasks = pairs(d.Domains)
	return d
}

// drawMoons draws as many points of each moon, row i of the moon i mod 2. The upper one is
// the half circle around (0, 0), the lower one that around (1, 1/2), both of radius 1.
func drawMoons(domain, split string, from Source) (datasets.Set, error) {
	angle, noise := 0.0, 0.1
	switch domain {
	case "upright":
	case "turned":
		angle, noise = 35*math.Pi/180, 0.15 // around the middle of the two
	default:
		return nil, fmt.Errorf("moons: no domain %q, want upright or turned", domain)
	}
	random := rand.New(datasets.Stream(from.Seed, "moons "+domain+" "+split))
	sin, cos := math.Sincos(angle)
	const middleX, middleY = 0.5, 0.25
	var values []float32
	var labels datasets.Labels
	for row := range 2 * from.perClass(split) {
		along, class := math.Pi*random.Float64(), row%2
		y, x := math.Sincos(along)
		if class == 1 {
			x, y = 1-x, 0.5-y
		}
		x, y = x-middleX, y-middleY
		values = append(values,
			float32(middleX+cos*x-sin*y+noise*random.NormFloat64()),
			float32(middleY+sin*x+cos*y+noise*random.NormFloat64()))
		labels.Add(class, true)
	}
	return datasets.NewFeatures(domain+"-"+split, values, labels, []string{"upper", "lower"})
}
