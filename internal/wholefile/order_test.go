package wholefile_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"iwda/internal/wholefile"
)

// orderedDisk returns a disk, and a function that says what a power cut could have left of its files in parts: nil
// if files were flushed before they got the names by which others find them, if the folders of these names
// were flushed before anything else changed in another folder or was removed, and if nothing is left to be
// flushed. Then a cut leaves what some first calls made, as a failing disk does, see [eachCall].
func orderedDisk() (disk *wholefile.Disk, broken func() error) {
	o := &order{written: map[string]bool{}, renamed: map[string]bool{}, removed: map[string]bool{}}
	return &wholefile.Disk{Before: o.before}, o.end
}

// order is what is not on the disk for good.
type order struct {
	calling sync.Mutex
	written map[string]bool // files
	// Folders in which names were given, and such in which names were taken away, temporary ones aside.
	renamed, removed map[string]bool
	err              error // the first
}

func (o *order) before(c *wholefile.Call) error {
	o.calling.Lock()
	defer o.calling.Unlock()
	folder := filepath.Dir(c.Path)
	switch c.Op {
	case wholefile.OpCreate, wholefile.OpWrite:
		o.written[c.Path] = true
	case wholefile.OpSync:
		delete(o.written, c.Path)
	case wholefile.OpSyncFolder:
		delete(o.renamed, c.Path)
		delete(o.removed, c.Path)
	case wholefile.OpRemove:
		if !temporary(c.Path) {
			o.flushed(c, o.renamed, "")
			o.removed[folder] = true
		}
		for path := range o.written {
			if below(path, c.Path) {
				delete(o.written, path)
			}
		}
	case wholefile.OpRename, wholefile.OpExchange, wholefile.OpLink, wholefile.OpSymlink, wholefile.OpMakeFolder:
		to := c.To
		if c.Op == wholefile.OpMakeFolder {
			to = c.Path
		}
		for path := range o.written {
			if below(path, c.Path) {
				o.fail(c, path)
			}
		}
		for path := range o.renamed {
			if below(path, c.Path) {
				o.fail(c, path)
			}
		}
		if !temporary(to) {
			folder = filepath.Dir(to)
			o.flushed(c, o.renamed, folder)
			o.flushed(c, o.removed, "")
		}
		o.renamed[filepath.Dir(to)] = !temporary(to) || o.renamed[filepath.Dir(to)]
	}
	return nil
}

// flushed notes a call before which folders should have been flushed, but for one.
func (o *order) flushed(c *wholefile.Call, folders map[string]bool, but string) {
	for path, counts := range folders {
		if counts && path != but {
			o.fail(c, path)
		}
	}
}

func (o *order) fail(c *wholefile.Call, path string) {
	if o.err == nil {
		o.err = fmt.Errorf("%s %s %s comes before %s is flushed", c.Op, c.Path, c.To, path)
	}
}

func (o *order) end() error {
	o.calling.Lock()
	defer o.calling.Unlock()
	for _, left := range []map[string]bool{o.written, o.removed, o.renamed} {
		for path, counts := range left {
			if counts && o.err == nil {
				o.err = fmt.Errorf("%s is not flushed at the end", path)
			}
		}
	}
	return o.err
}

// temporary reports whether a path is one that readers pass over.
func temporary(path string) bool {
	return slices.ContainsFunc(strings.Split(path, string(filepath.Separator)), wholefile.IsTemporary)
}

// below reports whether a path is another one or in it.
func below(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+string(filepath.Separator))
}
