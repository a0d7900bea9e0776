package images

import (
	"path/filepath"
	"slices"
)

// Set is a list of labelled image files. It does not change, and holds no pixels:
// a [Reader] reads them.
type Set struct {
	name    string
	root    string
	classes []string
	paths   []string // relative to root, separated by slashes
	labels  []int
}

// Name identifies the set in messages and results, as in "office31-amazon".
func (s *Set) Name() string { return s.name }

// Len is the number n of images.
func (s *Set) Len() int { return len(s.paths) }

// ClassNames lists the k classes in label order. The caller must not change it.
func (s *Set) ClassNames() []string { return s.classes }

// Label returns the class of image i, in [0, k).
func (s *Set) Label(i int) int { return s.labels[i] }

// Labels returns a copy of the n labels.
func (s *Set) Labels() []int { return slices.Clone(s.labels) }

// Path returns the path of image i: the set's root and what the tree or the list
// says.
func (s *Set) Path(i int) string { return filepath.Join(s.root, filepath.FromSlash(s.paths[i])) }

// Counts returns the number of images of each class, in label order.
func (s *Set) Counts() []int {
	counts := make([]int, len(s.classes))
	for _, label := range s.labels {
		counts[label]++
	}
	return counts
}
