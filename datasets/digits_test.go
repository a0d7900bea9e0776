package datasets_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"iwda/datasets"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

const (
	trainImages = "train-images-idx3-ubyte"
	trainLabels = "train-labels-idx1-ubyte"
	testImages  = "t10k-images-idx3-ubyte"
	testLabels  = "t10k-labels-idx1-ubyte"
)

// load reads both sets of "mnist" or "usps".
func load(root, digits string) (train, test *datasets.Images, err error) {
	train, err = datasets.LoadDigits(root, digits+"-train")
	if err != nil {
		return nil, nil, err
	}
	test, err = datasets.LoadDigits(root, digits+"-test")
	return train, test, err
}

func TestLoadMNIST(t *testing.T) {
	images := idxImages(3, 28, 28)
	root := testfiles.Folder(t, map[string][]byte{
		trainImages:         images,
		trainLabels + ".gz": testfiles.Gzip(t, idxLabels(5, 0, 4)),
		testImages + ".gz":  idxImages(2, 28, 28), // plain under a compressed name
		testLabels:          testfiles.Gzip(t, idxLabels(7, 2)),
	})
	train, test := must.Both(load(root, "mnist"))(t)
	if train.Name() != "mnist-train" || test.Name() != "mnist-test" || train.Len() != 3 || test.Len() != 2 {
		t.Fatalf("%s with %d, %s with %d images", train.Name(), train.Len(), test.Name(), test.Len())
	}
	if classOf(train, 0) != 5 || classOf(train, 2) != 4 || classOf(test, 1) != 2 {
		t.Errorf("labels %d, %d, %d, want 5, 4, 2", classOf(train, 0), classOf(train, 2), classOf(test, 1))
	}
	if !bytes.Equal(train.Pixels(1), images[16+784:16+2*784]) {
		t.Error("the second image is not the file's")
	}
}

func TestLoadMNISTRejects(t *testing.T) {
	good := map[string][]byte{
		trainImages: idxImages(2, 28, 28), trainLabels: idxLabels(1, 2),
		testImages: idxImages(1, 28, 28), testLabels: idxLabels(3),
	}
	for name, test := range map[string]struct {
		file    string
		content []byte
		want    string
	}{
		"sizes":        {testImages, idxImages(1, 27, 28), "images of 27×28 pixels, want 28×28"},
		"counts":       {trainLabels, idxLabels(1, 2, 3), "3 labels, want 2"},
		"label":        {testLabels, idxLabels(10), "label 10 of item 0, want 0 to 9"},
		"exchanged":    {trainImages, idxLabels(1, 2), "truncated: 10 bytes, want 16"},
		"labels wrong": {trainLabels, idxImages(2, 28, 28), "magic number 0x00000803, want 0x00000801"},
	} {
		t.Run(name, func(t *testing.T) {
			root := testfiles.Folder(t, good)
			path := filepath.Join(root, test.file)
			testfiles.Write(t, path, string(test.content))
			_, _, err := load(root, "mnist")
			must.Fail(t, err, path, test.want)
		})
	}
	for name := range good {
		t.Run("without "+name, func(t *testing.T) {
			root := testfiles.Folder(t, good)
			testfiles.Remove(t, filepath.Join(root, name))
			_, _, err := load(root, "mnist")
			must.Fail(t, err, name+".gz or "+name, root, "MNIST, IDX files")
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("error %v is no fs.ErrNotExist", err)
			}
		})
	}
}

func TestLoadUSPS(t *testing.T) {
	root := testfiles.Folder(t, map[string][]byte{
		"usps.bz2": bzip2OfTwoDigits(t),
		"usps.t":   []byte(uspsLine(6, constant(1))),
	})
	train, test, err := load(root, "usps")
	if err != nil {
		t.Fatal(err)
	}
	if train.Name() != "usps-train" || test.Name() != "usps-test" || train.Len() != 2 || test.Len() != 1 {
		t.Fatalf("%s with %d, %s with %d images", train.Name(), train.Len(), test.Name(), test.Len())
	}
	if classOf(train, 1) != 9 || classOf(test, 0) != 6 {
		t.Errorf("labels %d and %d, want 9 and 6", classOf(train, 1), classOf(test, 0))
	}
	testfiles.Write(t, filepath.Join(root, "usps.t"), "1 1:0\n1 1:2\n")
	_, _, err = load(root, "usps")
	must.Fail(t, err, filepath.Join(root, "usps.t")+":2: ", `value "2"`)
	must.Refuse(datasets.LoadDigits(filepath.Join(root, "nowhere"), "usps-train"))(t, "usps.bz2 or usps", filepath.Join(root, "nowhere"), "USPS, LIBSVM's copy")
	must.Refuse(datasets.LoadDigits(root, "usps"))(t, `no set of digits "usps"`)
}

// TestPublicDigits also reads the public files where $IWDA_DATA names their
// folder's parent; a relative path is one from the module's root. The other tests
// read files of the same formats.
func TestPublicDigits(t *testing.T) {
	root := os.Getenv("IWDA_DATA")
	if root == "" {
		return
	}
	if !filepath.IsAbs(root) {
		root = filepath.Join("..", root)
	}
	for _, digits := range []string{"mnist", "usps"} {
		t.Run(digits, func(t *testing.T) {
			train, test := must.Both(load(filepath.Join(root, "digits"), digits))(t)
			for _, set := range []*datasets.Images{train, test} {
				// The mean image of a class tells it from the others.
				if got := nearestMean(train, set); got < 0.7 {
					t.Errorf("%s: %.2f of the images lie nearest to their class's mean", set.Name(), got)
				}
			}
		})
	}
}
