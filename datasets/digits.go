package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Where the files of the digits come from, in words, for messages.
const (
	mnistSource = "MNIST, IDX files"
	uspsSource  = "USPS, LIBSVM's copy"
)

// DigitNames returns the classes of every set of digits, "0" to "9".
func DigitNames() []string {
	return []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
}

// LoadDigits reads a set of digits, of shape {1, 28, 28}, from files in the folder root:
//
//   - "mnist-train" (60,000 images in the public files) and "mnist-test" (10,000) from
//     train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
//     t10k-labels-idx1-ubyte, gzipped (.gz) or not;
//   - "usps-train" (7,291 images) and "usps-test" (2,007), enlarged, from usps and
//     usps.t, bzip2-compressed (.bz2) or not.
//
// Another name is an error. A file that is not there is an [fs.ErrNotExist]; see
// [ReadIDXImages], [ReadIDXLabels] and [ReadUSPS] for what is wrong with a file.
func LoadDigits(root, name string) (*Images, error) {
	switch name {
	case "mnist-train":
		return loadMNIST(root, name, "train")
	case "mnist-test":
		return loadMNIST(root, name, "t10k")
	case "usps-train":
		return loadUSPS(root, name, "usps")
	case "usps-test":
		return loadUSPS(root, name, "usps.t")
	default:
		return nil, fmt.Errorf("datasets: no set of digits %q", name)
	}
}

func loadMNIST(root, name, prefix string) (*Images, error) {
	imagesPath, err := findFile(root, []string{prefix + "-images-idx3-ubyte.gz", prefix + "-images-idx3-ubyte"}, mnistSource)
	if err != nil {
		return nil, err
	}
	labelsPath, err := findFile(root, []string{prefix + "-labels-idx1-ubyte.gz", prefix + "-labels-idx1-ubyte"}, mnistSource)
	if err != nil {
		return nil, err
	}
	images, err := readFile(imagesPath, ReadIDXImages)
	if err != nil {
		return nil, err
	}
	if images.Rows != mnistSide || images.Columns != mnistSide {
		return nil, fmt.Errorf("datasets: %s: images of %d×%d pixels, want %d×%d",
			imagesPath, images.Rows, images.Columns, mnistSide, mnistSide)
	}
	labels, err := readFile(labelsPath, func(r io.Reader, name string) ([]int, error) {
		return ReadIDXLabels(r, name, len(DigitNames()))
	})
	if err != nil {
		return nil, err
	}
	if len(labels) != images.Count {
		return nil, fmt.Errorf("datasets: %s: %d labels, want %d, the number of images in %s",
			labelsPath, len(labels), images.Count, imagesPath)
	}
	return NewImages(name, []int{1, mnistSide, mnistSide}, DigitNames(), images.Pixels, KnownLabels(labels))
}

func loadUSPS(root, name, file string) (*Images, error) {
	path, err := findFile(root, []string{file + ".bz2", file}, uspsSource)
	if err != nil {
		return nil, err
	}
	images, err := readFile(path, ReadUSPS)
	if err != nil {
		return nil, err
	}
	images.name = name
	return images, nil
}

// findFile returns the path of the first of the files of these names that is there.
func findFile(root string, names []string, source string) (string, error) {
	for _, name := range names {
		path := filepath.Join(root, name)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path, err
		}
	}
	return "", fmt.Errorf("datasets: no file %s in the folder %s: it belongs to %s: %w", strings.Join(names, " or "), root, source, fs.ErrNotExist)
}
