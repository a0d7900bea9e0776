// Package check reads all files of finished and unfinished runs and models below a folder,
// and says which are damaged, which do not belong together and which were left by processes that
// died. It changes nothing.
package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"iwda/adaptation/adapt/names"
	"iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/internal/input"
	"iwda/internal/wholefile"
)

// Finding is something that is not as it should be.
type Finding struct {
	Path string // of the file or folder
	What string // is wrong with it
	Do   string // what to do about it
}

// Report is what there is below a folder.
type Report struct {
	Finished, Unfinished, Running int // runs; of those that are being made nothing is read
	Models                        int
	Unsealed                      int // models without the SHA-256 that model.json states: somebody has changed it by hand
	Findings                      []Finding
}

// Empty reports whether there is nothing that this program has written.
func (r Report) Empty() bool {
	return r.Finished+r.Unfinished+r.Running+r.Models+len(r.Findings) == 0
}

// Folder checks all below a folder. Links to folders are followed. The error is for a folder that
// cannot be read at all.
func Folder(folder string) (Report, error) {
	if _, err := os.ReadDir(folder); err != nil {
		return Report{}, err
	}
	c := &checker{seen: map[string]bool{}}
	c.folder(folder)
	return c.Report, nil
}

type checker struct {
	Report
	seen map[string]bool // folders, by their paths without links
}

func (c *checker) find(path, what, do string) {
	c.Findings = append(c.Findings, Finding{path, what, do})
}

func (c *checker) folder(path string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || c.seen[real] {
		return
	}
	c.seen[real] = true
	entries, err := os.ReadDir(path)
	if err != nil {
		c.find(path, "cannot be read: "+err.Error(), "check its permissions and the disk, then run iwrun check again")
		return
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	running := false
	switch {
	case has(store.ConfigFile) || has(store.CheckpointFile) || has(store.ResultFile) || has(store.LockFile):
		running = c.run(path)
	case has(model.MetadataFile) || has(model.WeightsFile):
		c.model(path)
	}
	if has(names.Outcome) {
		c.adaptation(path, has)
	}
	for _, entry := range entries {
		name := filepath.Join(path, entry.Name())
		info, err := os.Stat(name)
		switch {
		case wholefile.IsTemporary(entry.Name()):
			if !running {
				c.left(name)
			}
		case err == nil && info.IsDir():
			c.folder(name)
		}
	}
}

// left is what a process left that died, unless it is being written.
func (c *checker) left(path string) {
	if wholefile.InUse(path) {
		return
	}
	whole := wholefile.Original(path)
	if _, err := os.Stat(whole); errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			c.find(path, fmt.Sprintf("a process died while it replaced %s, which is missing", whole), "rename it to that name if it is complete, or remove it")
			c.folder(path)
			return
		}
	}
	c.find(path, "a process died while it wrote "+whole, "remove it")
}

func (c *checker) model(path string) {
	c.Models++
	sealed, err := model.Verify(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.find(path, "a part of a model is missing: "+err.Error(), "write the model again with iwrun export or iwrun adapt")
	case err != nil:
		c.find(path, err.Error(), "write the model again with iwrun export or iwrun adapt")
	case !sealed:
		c.Unsealed++
	}
}

// adaptation checks what iwrun adapt concluded.
func (c *checker) adaptation(path string, has func(name string) bool) {
	for _, name := range []string{names.Experiment, names.Predictions, names.Classes, names.Report, names.Model} {
		if file := names.Find(path, name); !has(filepath.Base(file)) {
			c.find(file, "is missing, although the adaptation was finished", "run the same iwrun adapt command again, which writes it from the runs")
		}
	}
	outcome := filepath.Join(path, names.Outcome)
	text, err := input.Read(outcome, input.Text)
	if err == nil && !json.Valid(text) {
		err = errors.New("is not complete JSON")
	}
	if err != nil {
		c.find(outcome, err.Error(), "run the same iwrun adapt command again, which writes it from the runs")
	}
}
