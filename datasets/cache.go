package datasets

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"iwda/internal/wholefile"
)

// Bounds of what is kept: of the file it was read from, of a row and of the whole. The
// public files have 2 MB, 14 MB unpacked.
const (
	maxCachedSource = 1 << 25
	cachedRowSize   = 1 + mnistSide*mnistSide // a label and pixels
	maxCached       = sha256.Size + maxUSPSDigits*cachedRowSize
)

// readUSPSCached is [ReadUSPS] with a memory: it keeps the images in a file of the
// folder cache and takes them from there where it is given the same bytes again, which
// is some fifty times as fast. A file that cannot be written, or does not hold what was
// written, costs time and is no error. Where cache is empty, nothing is kept.
func readUSPSCached(r io.Reader, name, cache string) (*Images, error) {
	if cache == "" {
		return ReadUSPS(r, name)
	}
	source, err := io.ReadAll(io.LimitReader(r, maxCachedSource))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(source) == maxCachedSource {
		return ReadUSPS(io.MultiReader(bytes.NewReader(source), r), name)
	}
	// The number stands for what ReadUSPS makes of a file and how it is kept, and goes
	// up when either changes.
	path := filepath.Join(cache, fmt.Sprintf("usps-1-%x.cache", sha256.Sum256(source)))
	if images := loadCached(path, name); images != nil {
		return images, nil
	}
	images, err := ReadUSPS(bytes.NewReader(source), name)
	if err != nil {
		return nil, err
	}
	storeCached(path, images)
	return images, nil
}

// loadCached returns the images in a file that [storeCached] wrote, nil for any other.
func loadCached(path, name string) *Images {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCached {
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return parseCached(content, name)
}

// parseCached reads the SHA-256 of the rest, a byte for each label and the pixels; it
// returns nil where they do not fit.
func parseCached(content []byte, name string) *Images {
	if len(content) < sha256.Size+cachedRowSize {
		return nil
	}
	sum, rows := content[:sha256.Size], content[sha256.Size:]
	if actual := sha256.Sum256(rows); !bytes.Equal(sum, actual[:]) {
		return nil
	}
	labels := make([]int, len(rows)/cachedRowSize)
	for i := range labels {
		labels[i] = int(rows[i])
	}
	images, err := NewImages(name, []int{1, mnistSide, mnistSide}, DigitNames(), rows[len(labels):], KnownLabels(labels))
	if err != nil {
		return nil
	}
	return images
}

// storeCached writes images to a file, whole or not at all.
func storeCached(path string, images *Images) {
	content := make([]byte, sha256.Size, sha256.Size+cachedRowSize*images.Len())
	for _, label := range images.labels.classes {
		content = append(content, byte(label))
	}
	content = append(content, images.pixels...)
	sum := sha256.Sum256(content[sha256.Size:])
	copy(content, sum[:])

	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return
	}
	// What cannot be kept is read again.
	_ = wholefile.Write(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
