package predict

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"iwda/datasets"
	"iwda/datasets/images"
	"iwda/datasets/normalise"
	"iwda/datasets/table"
	"iwda/experiments/model"
	"iwda/internal/input"
	"iwda/internal/printable"
)

// Input is something that rows are read from, as often as one likes.
type Input interface {
	Name() string
	Close() error
	batches(ctx context.Context, size int) iter.Seq2[batch, error]
}

// batch is some rows, valid until the next one.
type batch struct {
	values     []float32
	rows       int
	id         func(i int) string
	number     func(i int) int // of a row in its file, from 0; nil if rows have other ids
	normalised bool            // as the network wants them
}

// Open opens an input of a model: a file of rows, a folder of images, a .txt list of them or one. folder is the model's, for messages.
// Labels in it are not read. Rows of another size, and images for a network that takes
// none, are errors. Columns have the roles that are given; ids are in the column in which the target
// had them, if there is one, unless another one is named.
func Open(path string, roles table.Roles, folder string, m model.Metadata) (opened Input, err error) {
	defer func() { err = input.Wrong(err) }()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() || strings.EqualFold(filepath.Ext(path), ".txt") || images.IsImage(path) {
		if !roles.None() {
			return nil, fmt.Errorf("%s: %s, but images have no columns", path, roles)
		}
		return openImages(path, m)
	}
	if m.Input.Resize != 0 && !table.Reads(path) {
		return nil, fmt.Errorf("%s: the model is for images: name .jpg, .jpeg, .png or .webp files, a folder of them, or a .txt list of them", path)
	}
	names, err := table.Names(path)
	if err != nil {
		return nil, err
	}
	if roles.ID == "" && slices.Contains(names, m.Input.IDColumn) {
		roles.ID = m.Input.IDColumn
	}
	options := table.Options{
		Kind: table.Features, IgnoreLabels: true, Roles: roles,
		Reference: table.Reference{Name: folder, Width: datasets.Size(m.Input.Shape), Columns: m.Input.Columns, Encoding: m.Input.Encoding, Origins: m.Input.Origins, Decimal: m.Input.Decimal},
	}
	rows, err := table.Open(path, options)
	if err != nil {
		return nil, err
	}
	return tableInput{rows}, nil
}

type tableInput struct{ *table.Table }

func (t tableInput) batches(_ context.Context, size int) iter.Seq2[batch, error] {
	return each(t.Batches(size), func(b *table.Batch) batch {
		of := batch{values: b.Values, rows: b.Len(), id: b.ID}
		if !b.HasIDs() {
			of.number = b.Number
		}
		return of
	})
}

// each converts batches up to the first error.
func each[B any](batches iter.Seq2[B, error], convert func(B) batch) iter.Seq2[batch, error] {
	return func(yield func(batch, error) bool) {
		for b, err := range batches {
			if err != nil {
				yield(batch{}, err)
				return
			}
			if !yield(convert(b), nil) {
				return
			}
		}
	}
}

type imageInput struct {
	*images.Reader
	crop int
}

func openImages(path string, m model.Metadata) (Input, error) {
	set, err := images.OpenUnlabelled(path)
	if err != nil {
		return nil, err
	}
	if m.Input.Resize == 0 || m.Input.Shape[1] != m.Input.Shape[2] {
		return nil, fmt.Errorf("%s: files of images are for networks that were trained on such; this one takes rows of %s, as from .npy files",
			path, printable.Count(datasets.Size(m.Input.Shape), "value"))
	}
	mean, deviation := images.Normalisation()
	if !m.Normalisation.SameOnTarget(normalise.Channels(mean[:], deviation[:])) {
		return nil, fmt.Errorf("%s: the model's normalisation is not that of files of images, with ImageNet's means and deviations", path)
	}
	reader, err := images.NewReader(set, images.ReaderOptions{Side: m.Input.Resize})
	if err != nil {
		return nil, err
	}
	return imageInput{reader, m.Input.Shape[1]}, nil
}

func (i imageInput) Name() string { return i.Set().Name() }

func (i imageInput) batches(ctx context.Context, size int) iter.Seq2[batch, error] {
	return each(i.Batches(ctx, images.ViewOptions{BatchSize: min(size, i.Set().Len()), Crop: i.crop}), func(b *images.Batch) batch {
		id := func(row int) string { return i.Set().ID(b.Rows[row]) }
		return batch{values: b.Values, rows: len(b.Rows), id: id, normalised: true}
	})
}
