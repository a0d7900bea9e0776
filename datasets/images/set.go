package images

import (
	"path/filepath"

	"iwda/datasets"
)

// Set is a list of image files, each of which may have a label. It does not change, and holds no pixels:
// a [Reader] reads them.
type Set struct {
	name    string
	root    string
	classes []string
	paths   []string // relative to root, separated by slashes
	labels  datasets.Labels
}

// Name identifies the set in messages and results, as in "office31-amazon".
func (s *Set) Name() string { return s.name }

// Len is the number n of images.
func (s *Set) Len() int { return len(s.paths) }

// ClassNames lists the k classes in label order. The caller must not change it.
func (s *Set) ClassNames() []string { return s.classes }

// Labels returns the n labels.
func (s *Set) Labels() datasets.Labels { return s.labels }

// Path returns the path of image i: the set's root and what the tree or the list
// says.
func (s *Set) Path(i int) string { return filepath.Join(s.root, filepath.FromSlash(s.paths[i])) }

// Counts returns the number of images known to be of each class, in label order.
func (s *Set) Counts() []int { return s.labels.Counts(len(s.classes)) }
