package catalogue

import "iwda/datasets"

// glyphs are digits drawn from fonts, the data of the demonstration.
func glyphs() Dataset {
	d := Dataset{
		Name: "glyphs", Title: "Glyphs",
		Kind:     SmallImages,
		Classes:  datasets.DigitNames(),
		Domains:  []Domain{{Name: "clean"}, {Name: "warped"}},
		Settings: "dataset: {train_per_class: 400, test_per_class: 100}",
		instructions: func(string) string {
			return "Digits drawn from fonts that are part of the program; nothing has to be provided."
		},
		open: func(domain, split string, from Source) (datasets.Set, error) {
			perClass := from.TrainPerClass
			if split == testSplit {
				perClass = from.TestPerClass
			}
			return datasets.DrawGlyphs(domain, split, perClass, from.Seed)
		},
	}
	d.Tasks = pairs(d.Domains)
	return d
}
