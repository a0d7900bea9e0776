package catalogue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"iwda/datasets"
	"iwda/internal/printable"
)

// digits are MNIST and USPS, the paper's first data set.
func digits() Dataset {
	d := Dataset{
		Name: "digits", Title: "Digits",
		Kind:    SmallImages,
		Classes: datasets.DigitNames(),
		Domains: []Domain{
			{
				Name:  "mnist",
				Train: []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949},
				Test:  []int{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009},
			},
			{
				Name:  "usps",
				Train: []int{1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644},
				Test:  []int{359, 264, 198, 166, 200, 160, 170, 147, 166, 177},
			},
		},
		Root: "${IWDA_DATA:-data}/digits",
		instructions: func(root string) string {
			return fmt.Sprintf("MNIST as IDX files (train-images-idx3-ubyte and the other three), USPS as LIBSVM's files usps and usps.t,\n"+
				"compressed (.gz, .bz2) or not, in %s.", root)
		},
		open: func(domain, split string, from Source) (datasets.Set, error) {
			return datasets.LoadDigits(from.Root, domain+"-"+split)
		},
	}
	d.Tasks = pairs(d.Domains)
	d.check = d.checkDigits
	return d
}

// checkDigits compares the numbers of images of each class with the published ones.
func (d Dataset) checkDigits(_ context.Context, root string, out io.Writer) error {
	var problems []error
	for _, domain := range d.Domains {
		for split, published := range [...][]int{domain.Train, domain.Test} {
			set, err := d.open(domain.Name, [...]string{trainSplit, testSplit}[split], Source{Root: root})
			if err != nil {
				problems = append(problems, err)
				continue
			}
			if counts := datasets.Counts(set); !slices.Equal(counts, published) {
				problems = append(problems, fmt.Errorf("images by class of %s: %v, want %v: not the public data set, or not all of it",
					set.Name(), counts, published))
				continue
			}
			fmt.Fprintf(out, "%s: %s, as published\n", set.Name(), printable.Count(set.Len(), "image"))
		}
	}
	return errors.Join(problems...)
}
