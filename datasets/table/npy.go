package table

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
)

// openNPY opens one array, and those beside it: of P-features.npy, P-labels.npy and
// P-ids.npy.
func openNPY(t *Table) error {
	o := t.options
	if len(o.Values) > 0 {
		return fmt.Errorf("no %q: a .npy file has one array without a name", o.Values)
	}
	var files []*mapping
	closeAll := func() error {
		var err error
		for _, m := range files {
			err = errors.Join(err, m.Close())
		}
		return err
	}
	open := func(path string) (*array, error) {
		a, m, err := readNPY(path)
		if err != nil {
			return nil, err
		}
		files = append(files, m)
		return a, nil
	}
	values, err := open(t.name)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(t.name, filepath.Ext(t.name))
	values.name = "the array"
	for _, name := range valueNames {
		if p, found := strings.CutSuffix(base, "-"+name); found {
			base, values.name = p, name
		}
	}
	beside := func(asked, name string) (*array, error) {
		path := asked
		if path == "" && values.name != "the array" {
			path = base + "-" + name + ".npy"
		}
		if path == "" {
			return nil, nil
		}
		a, err := open(path)
		if asked == "" && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if a != nil {
			a.name = path
		}
		return a, err
	}
	var labels, ids *array
	if !o.IgnoreLabels {
		labels, err = beside(o.Labels, "labels")
	}
	if err == nil {
		ids, err = beside(o.IDs, "ids")
	}
	if err != nil {
		closeAll()
		return err
	}
	return t.setArrays(values, labels, ids, nil, closeAll)
}

// readNPY maps a .npy file.
func readNPY(path string) (*array, *mapping, error) {
	if err := CheckFile(path); err != nil {
		return nil, nil, err
	}
	m, err := mapFile(path)
	if err != nil {
		return nil, nil, err
	}
	a, length, err := readHeader(io.NewSectionReader(m.file, 0, m.size))
	if err == nil {
		err = a.fills(m.size - int64(length))
	}
	if err != nil {
		m.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	m.place(a, int64(length), m.size-int64(length))
	return a, m, nil
}
