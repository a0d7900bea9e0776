package images

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"iwda/datasets"
	"iwda/internal/input"
	"iwda/internal/parallel"
	"iwda/internal/printable"
)

// Set is a list of image files, each of which may have a label. It does not change, and
// holds no pixels: a [Reader] reads them.
type Set struct {
	name    string
	root    string
	classes []string
	paths   []string // relative to root, separated by slashes
	own     bool     // a user's files, which are taken as they are shown
	listed  bool     // a list names them, which may not lead out of root; folders may be links
	labels  datasets.Labels
	others  map[string]int // files of the folder that are passed over, by the ends of their names
	sets    []*Set         // that were joined
	parts   []int          // the set of each image of a joined set, nil of others
	first   []int          // image of each set
}

// Join returns the images of several sets, which have the same classes, one set after another.
func Join(sets ...*Set) *Set {
	if len(sets) == 1 {
		return sets[0]
	}
	all := &Set{name: sets[0].name, classes: sets[0].classes, own: sets[0].own, others: map[string]int{}, sets: sets}
	for part, s := range sets {
		if part > 0 {
			all.name += "+" + s.name
		}
		all.first = append(all.first, all.Len())
		all.paths = append(all.paths, s.paths...)
		for i := range s.Len() {
			all.labels.Add(s.labels.At(i))
			all.parts = append(all.parts, part)
		}
		for end, n := range s.others {
			all.others[end] += n
		}
	}
	return all
}

// Parts returns the number of the set that each image of a joined set is from, nil of others. The caller must not
// change it.
func (s *Set) Parts() []int { return s.parts }

// PartLabels returns the labels of each set that this one was joined from, or its own.
func (s *Set) PartLabels() (all []datasets.Labels) {
	if s.sets == nil {
		return []datasets.Labels{s.labels}
	}
	for _, of := range s.sets {
		all = append(all, of.labels)
	}
	return all
}

// of returns image i as one of a set that is not joined.
func (s *Set) of(i int) (*Set, int) {
	if s.sets == nil {
		return s, i
	}
	return s.sets[s.parts[i]], i - s.first[s.parts[i]]
}

// Name identifies the set in messages and results, as in "office31-amazon".
func (s *Set) Name() string { return s.name }

// PassedOver says in a sentence how many files of the folder are no images that can be read, and
// what their names end with; nil if there are none.
func (s *Set) PassedOver() []string {
	var counts []string
	for _, end := range slices.Sorted(maps.Keys(s.others)) {
		counts = append(counts, fmt.Sprintf("%d %s", s.others[end], cmp.Or(end, "without an end")))
	}
	if counts == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: files that are ignored: %s; images are .jpg, .jpeg, .png and .webp", s.name, printable.FirstTen(counts))}
}

// Len is the number n of images.
func (s *Set) Len() int { return len(s.paths) }

// ClassNames lists the k classes in label order. The caller must not change it.
func (s *Set) ClassNames() []string { return s.classes }

// Labels returns the n labels.
func (s *Set) Labels() datasets.Labels { return s.labels }

// Path returns the path of image i: the set's root and what the tree or the list
// says.
func (s *Set) Path(i int) string {
	s, i = s.of(i)
	return filepath.Join(s.root, filepath.FromSlash(s.paths[i]))
}

// ID names image i among those of the set: its path below the set's root, with slashes, wherever the
// root is.
func (s *Set) ID(i int) string { return s.paths[i] }

// open opens the file of image i.
func (s *Set) open(i int) (*os.File, error) {
	s, i = s.of(i)
	if s.listed {
		return input.OpenIn(s.root, filepath.FromSlash(s.paths[i]))
	}
	return input.Open(s.Path(i))
}

// Counts returns the number of images known to be of each class, in label order.
func (s *Set) Counts() []int { return s.labels.Counts(len(s.classes)) }

// Fingerprint returns the SHA-256, in hexadecimal digits, of the class names and of
// every image's path below the root, label, if it is known, and size in bytes. It opens
// no image: of one that changes without changing its size, it knows nothing. A missing
// file is a [FileError].
func (s *Set) Fingerprint() (string, error) {
	sizes := make([]int64, s.Len())
	err := s.stat(os.Stat, func(i int, info os.FileInfo) { sizes[i] = info.Size() })
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %q\n", s.Len(), s.classes)
	for i, path := range s.paths {
		label := "?"
		if class, known := s.labels.At(i); known {
			label = strconv.Itoa(class)
		}
		fmt.Fprintf(sum, "%q %s %d\n", path, label, sizes[i])
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// askers is the number of files whose states are asked for at a time.
const askers = 16

// stat asks for the state of every file, many at a time, since each may be a round trip
// to a file server, and hands it to keep, in any order and from several goroutines. The
// error is that of the first file in order that has one.
func (s *Set) stat(ask func(path string) (os.FileInfo, error), keep func(i int, info os.FileInfo)) error {
	errs := make([]error, s.Len())
	var failed atomic.Bool
	var asking errgroup.Group
	asking.SetLimit(askers)
	// A file whose turn has come is asked for, so that the first error is found.
	for i := 0; i < s.Len() && !failed.Load(); i++ {
		asking.Go(func() error {
			info, err := ask(s.Path(i))
			if err != nil {
				errs[i] = &FileError{Path: s.Path(i), Err: withoutPath(err)}
				failed.Store(true)
				return nil
			}
			keep(i, info)
			return nil
		})
	}
	_ = asking.Wait() // which has none: they are in errs
	return cmp.Or(errs...)
}

// Inspect decodes every image, by several goroutines with a memory of their own, and returns the width and
// height of each, 0 of one that cannot be, and the files of these, both in the set's order, and
// [Reader.Notes]. The only error is the context's.
func (s *Set) Inspect(ctx context.Context) (sizes []image.Point, broken []*FileError, notes []string, err error) {
	sizes, broken = make([]image.Point, s.Len()), make([]*FileError, s.Len())
	found := make([]traits, s.Len())
	workers := runtime.GOMAXPROCS(0)
	own := make([]scratch, workers)
	parallel.Each(workers, s.Len(), func(worker, i int) {
		if ctx.Err() != nil {
			return
		}
		own := &own[worker]
		var err error
		if found[i], err = own.decode(s, i); err != nil {
			broken[i] = &FileError{Path: s.Path(i), Err: err}
			return
		}
		sizes[i] = image.Pt(own.decoded.Width, own.decoded.Height)
	})
	if err := ctx.Err(); err != nil {
		return nil, nil, nil, err
	}
	broken = slices.DeleteFunc(broken, func(e *FileError) bool { return e == nil })
	return sizes, broken, s.notes(func(i int) traits { return found[i] }), nil
}
