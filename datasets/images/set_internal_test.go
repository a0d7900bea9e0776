package images

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"testing"
	"time"

	"iwda/datasets"
	"iwda/internal/must"
)

// manyFiles is a set of n files that need not exist.
func manyFiles(n int) *Set {
	s := &Set{name: "many", root: "nowhere", classes: []string{"a"}, labels: datasets.UnknownLabels(n)}
	for i := range n {
		s.paths = append(s.paths, fmt.Sprintf("%d.jpg", i))
	}
	return s
}

// Files are asked for many at a time: no answer comes before as many were asked for.
func TestStatAsksManyFilesAtATime(t *testing.T) {
	const files, atOnce = 100, 16
	info := must.Have(os.Stat("."))(t)
	var asked sync.WaitGroup
	asked.Add(atOnce)
	var first sync.Once
	together := make(chan struct{})
	questions := make(chan struct{}, atOnce)
	for range atOnce {
		questions <- struct{}{}
	}
	ask := func(string) (os.FileInfo, error) {
		select {
		case <-questions:
			asked.Done()
			first.Do(func() { go func() { asked.Wait(); close(together) }() })
		default:
		}
		select {
		case <-together:
			return info, nil
		case <-time.After(time.Minute):
			return nil, errors.New("one after the other")
		}
	}
	seen := make([]bool, files)
	must.Do(t, manyFiles(files).stat(ask, func(i int, _ os.FileInfo) { seen[i] = true }))
	for i, done := range seen {
		if !done {
			t.Errorf("file %d was left out", i)
		}
	}
}

// The file that cannot be asked for is named, whichever of them answers first.
func TestStatNamesTheFirstMissingFile(t *testing.T) {
	info := must.Have(os.Stat("."))(t)
	s := manyFiles(100)
	ask := func(path string) (os.FileInfo, error) {
		if path == s.Path(7) || path == s.Path(80) {
			return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
		}
		return info, nil
	}
	err := s.stat(ask, func(int, os.FileInfo) {})
	if file := (*FileError)(nil); !errors.As(err, &file) || file.Path != s.Path(7) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
