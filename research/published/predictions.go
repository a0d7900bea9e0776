package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"iwda/datasets"
	"iwda/datasets/table"
	"iwda/internal/convert"
	"iwda/internal/evenly"
	"iwda/internal/wholefile"
	"iwda/research/npz"
)

// digits are MNIST's two sets, and what networks read of them once one is trained.
type digits struct {
	train, test               *datasets.Images
	trainLabels, testLabels   []int
	trainByClass, testByClass [][]int
	trainImages, testImages   func() images
	folder                    string // of the logits
	say                       func(format string, values ...any)
}

func loadDigits(root, folder string, say func(string, ...any)) (*digits, error) {
	train, err := datasets.LoadDigits(root, "mnist-train")
	if err != nil {
		return nil, err
	}
	test, err := datasets.LoadDigits(root, "mnist-test")
	if err != nil {
		return nil, err
	}
	d := &digits{
		train: train, test: test, trainLabels: datasets.LabelsOf(train).Classes(), testLabels: datasets.LabelsOf(test).Classes(), folder: folder, say: say,
		trainImages: sync.OnceValue(func() images { return newImages(train) }),
		testImages:  sync.OnceValue(func() images { return newImages(test) }),
	}
	d.trainByClass, d.testByClass = rowsByClass(d.trainLabels), rowsByClass(d.testLabels)
	for y := range classes {
		if len(d.trainByClass[y]) == 0 || len(d.testByClass[y]) == 0 {
			return nil, fmt.Errorf("the digits in %s lack class %d: %d images for training, %d for tests", root, y, len(d.trainByClass[y]), len(d.testByClass[y]))
		}
	}
	return d, os.MkdirAll(folder, 0o777)
}

// training is all that a network's logits follow from, beside the images.
type training struct {
	Name    string // of its files, before a hash
	Network Network
	Seed    int64
	Rows    []int     // of the training set, those that it is trained on
	HeldOut []int     // of the training set, those whose logits are wanted; may be none
	Weights []float64 // of the classes; nil stands for ones
}

// predictions are a network's logits, row-major.
type predictions struct {
	heldOut []float64 // of the training's HeldOut, in their order
	test    []float64 // of all test images
}

// predict returns the logits of the trained network. They are read from the folder where
// they are there, else the network is trained and they are kept.
func (d *digits) predict(ctx context.Context, t training) (predictions, error) {
	hash, err := t.hash()
	if err != nil {
		return predictions{}, err
	}
	name := t.Name + "-" + hash
	read, err := d.read(name, t)
	if !errors.Is(err, fs.ErrNotExist) {
		return read, err
	}
	var heldOut, test []float32
	err = onOneThread(func() error {
		model, err := t.Network.train(ctx, d.trainImages(), t.Rows, t.Weights, t.Seed)
		if err != nil {
			return err
		}
		heldOut = logits(model, d.trainImages(), t.HeldOut)
		test = logits(model, d.testImages(), evenly.All(d.test.Len()))
		return nil
	})
	if err != nil {
		return predictions{}, fmt.Errorf("network %s: %w", t.Name, err)
	}
	p := predictions{convert.Slice[float64](heldOut), convert.Slice[float64](test)}
	d.say("%s: trained, %.2f%% of the test images right", t.Name, 100*accuracy(p.test, d.testLabels))
	if len(heldOut) > 0 {
		if err := d.write(name+heldOutSuffix, heldOut, evenly.Pick(d.trainLabels, t.HeldOut)); err != nil {
			return predictions{}, err
		}
	}
	return p, d.write(name, test, d.testLabels)
}

// hash tells apart trainings of one name.
func (t training) hash() (string, error) {
	text, err := json.Marshal(t)
	return fmt.Sprintf("%x", sha256.Sum256(text))[:12], err
}

// heldOutSuffix tells the file of held-out rows from that of the test images, which is
// written last.
const heldOutSuffix = "-held-out"

func (d *digits) read(name string, t training) (predictions, error) {
	test, err := d.readRows(name, d.testLabels)
	if err != nil || len(t.HeldOut) == 0 {
		return predictions{test: test}, err
	}
	heldOut, err := d.readRows(name+heldOutSuffix, evenly.Pick(d.trainLabels, t.HeldOut))
	return predictions{heldOut, test}, err
}

func (d *digits) readRows(name string, labels []int) (logits []float64, err error) {
	file, err := table.Open(filepath.Join(d.folder, name+".npz"), table.Options{Kind: table.Features})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	set, err := file.Load()
	if err != nil {
		return nil, err
	}
	fits := set.Len() == len(labels) && set.Shape()[0] == classes
	for i := 0; fits && i < len(labels); i++ {
		y, _ := set.Label(i)
		fits = y == labels[i]
	}
	if !fits {
		return nil, fmt.Errorf("%s: its %d rows are not those of the images; remove the file", set.Name(), set.Len())
	}
	values := make([]float32, set.Len()*classes)
	datasets.CopyRows(values, set, evenly.All(set.Len()))
	return convert.Slice[float64](values), nil
}

func (d *digits) write(name string, values []float32, labels []int) error {
	set, err := datasets.NewFeatures(name, values, datasets.KnownLabels(labels), datasets.DigitNames())
	if err != nil {
		return err
	}
	return wholefile.Write(filepath.Join(d.folder, name+".npz"), func(w io.Writer) error { return npz.WriteFeatures(w, set) })
}

// selectedRows returns rows of a row-major matrix with a column a class.
func selectedRows(values []float64, rows []int) []float64 {
	chosen := make([]float64, 0, len(rows)*classes)
	for _, row := range rows {
		chosen = append(chosen, values[row*classes:(row+1)*classes]...)
	}
	return chosen
}
