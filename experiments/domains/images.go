package domains

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"iwda/datasets/catalogue"
	"iwda/datasets/images"
	"iwda/experiments/config"
	"iwda/internal/printable"
)

// FindImages finds the image files of a run.
func FindImages(run config.Resolved) (catalogue.ImageTask, error) {
	data, err := run.Dataset.Described()
	if err != nil {
		return catalogue.ImageTask{}, err
	}
	from, to := run.Domains()
	return data.OpenImageTask(run.Dataset.Root, from[0], to, from[1:]...)
}

// OpenReader opens the images of a set as a run reads them; alive is called while they are read and logf for
// what is worth a line.
func OpenReader(run config.Resolved, set *images.Set, alive func(), logf func(format string, args ...any)) (*images.Reader, error) {
	options := images.ReaderOptions{Side: run.Dataset.Resize, Cache: run.Dataset.Cache, Alive: alive}
	if options.Cache == images.FileCache {
		folder, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("dataset.cache is %s: %w", run.Dataset.Cache, err)
		}
		options.Folder = filepath.Join(folder, "iwda")
	}
	reader, err := images.NewReader(set, options)
	if file := (*images.FileError)(nil); err != nil && options.Folder != "" && !errors.As(err, &file) {
		err = fmt.Errorf("%w; set XDG_CACHE_HOME to a folder that can be written and has room", err)
	}
	if err != nil {
		return nil, err
	}
	if size := reader.CacheBytes(); size > 0 {
		logf("%s: %s, cached in %s, %d MiB in all", set.Name(), printable.Count(set.Len(), "image"), run.Dataset.Cache, size>>20)
	}
	return reader, nil
}

// CheckImages reads all images of a run, into the cache on the disk that runs share, and returns what
// there is to know of them ([images.Reader.Notes]). Files that cannot be read are an error that names
// them, and so is a cache that cannot be written.
func CheckImages(ctx context.Context, run config.Resolved) (notes []string, err error) {
	task, err := FindImages(run)
	if err != nil {
		return nil, err
	}
	var broken []*images.FileError
	for _, set := range setsOf(task) {
		reader, err := OpenReader(run, set, nil, func(string, ...any) {})
		if err != nil {
			return nil, err
		}
		of, err := reader.Broken(ctx)
		notes = append(notes, reader.Notes()...)
		if err := errors.Join(err, reader.Close()); err != nil {
			return nil, err
		}
		broken = append(broken, of...)
	}
	return notes, images.Unreadable(broken)
}

// setsOf are the sets of a task, each once.
func setsOf(task catalogue.ImageTask) []*images.Set {
	sets := []*images.Set{task.Source, task.Target}
	if task.Test != task.Target {
		sets = append(sets, task.Test)
	}
	return sets
}

// Fingerprint identifies the image files of a task.
func Fingerprint(task catalogue.ImageTask, alive func()) (string, error) {
	sum := sha256.New()
	for _, set := range setsOf(task) {
		of, err := set.Fingerprint(alive)
		if err != nil {
			return "", err
		}
		io.WriteString(sum, of)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
