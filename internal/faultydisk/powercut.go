package faultydisk

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"iwda/internal/input"
	"iwda/internal/wholefile"
)

// Recorder remembers the calls by which the files of a folder change.
type Recorder struct {
	root    string
	initial *inode
	calling sync.Mutex
	calls   []wholefile.Call
}

// NewRecorder returns one for the folder, whose present files are on the disk for good.
func NewRecorder(root string) (*Recorder, error) {
	initial, err := load(root)
	return &Recorder{root: root, initial: initial}, err
}

// Disk returns the system's disk, all of whose calls are remembered.
func (r *Recorder) Disk() *wholefile.Disk {
	return &wholefile.Disk{Before: func(c *wholefile.Call) error {
		r.calling.Lock()
		defer r.calling.Unlock()
		call := *c
		call.Data = bytes.Clone(c.Data)
		r.calls = append(r.calls, call)
		return nil
	}}
}

// Calls returns the number of calls.
func (r *Recorder) Calls() int { return len(r.calls) }

// State is what is on the disk after a power cut.
type State struct {
	Name string // the cut, in words
	root *inode
}

// Cuts returns the states in which a power cut after any number of calls could leave the
// folder, each once. After each call what was not flushed is there, is not there, or only the
// names of files are; and, so many times more, each change to a folder is there or not, and each
// write to a file is there, in part, or not.
func (r *Recorder) Cuts(random *rand.Rand, more int) []State {
	var states []State
	seen := map[string]bool{}
	for calls := range len(r.calls) + 1 {
		for kind := range 3 + more {
			d := r.initial.clone(map[*inode]*inode{})
			for _, c := range r.calls[:calls] {
				d.apply(r.root, c)
			}
			names, writes := random.Float64, random.Float64
			switch kind {
			case 0:
				names, writes = none, none
			case 1:
				names, writes = all, all
			case 2:
				names, writes = all, none
			}
			d.cut(names, writes, map[*inode]bool{})
			if print := d.print(); !seen[print] {
				seen[print] = true
				last := "nothing"
				if calls > 0 {
					last = fmt.Sprintf("%s %s", r.calls[calls-1].Op, strings.TrimPrefix(r.calls[calls-1].Path, r.root))
				}
				states = append(states, State{fmt.Sprintf("cut %d.%d, after %s", calls, kind, last), d})
			}
		}
	}
	return states
}

func none() float64 { return 0 }
func all() float64  { return 1 }

// Write puts the state's files into a folder, which is empty or not there.
func (s State) Write(folder string) error { return s.root.write(folder) }

// inode is a file, a folder or a link, whatever its names.
type inode struct {
	folder map[string]*inode // what is on the disk of it; nil for what is none
	live   map[string]*inode // what programs see
	moves  []map[string]*inode
	target string // of a link

	content []byte // of a file, on the disk
	writes  []wholefile.Call
}

func newFolder() *inode { return &inode{folder: map[string]*inode{}, live: map[string]*inode{}} }

func load(path string) (*inode, error) {
	root := newFolder()
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		child, name := &inode{}, filepath.Join(path, entry.Name())
		switch {
		case entry.IsDir():
			child, err = load(name)
		case entry.Type()&fs.ModeSymlink != 0:
			child.target, err = os.Readlink(name)
		default:
			child.content, err = input.Read(name, input.Tensors)
		}
		if err != nil {
			return nil, err
		}
		root.folder[entry.Name()], root.live[entry.Name()] = child, child
	}
	return root, nil
}

// clone returns a copy of the tree, in which what has two names still has.
func (n *inode) clone(made map[*inode]*inode) *inode {
	if n == nil {
		return nil
	}
	if twin := made[n]; twin != nil {
		return twin
	}
	twin := &inode{content: n.content, target: n.target, writes: slices.Clip(n.writes)}
	made[n] = twin
	copied := func(entries map[string]*inode) map[string]*inode {
		if entries == nil {
			return nil
		}
		twins := make(map[string]*inode, len(entries))
		for name, child := range entries {
			twins[name] = child.clone(made)
		}
		return twins
	}
	twin.folder, twin.live = copied(n.folder), copied(n.live)
	for _, move := range n.moves {
		twin.moves = append(twin.moves, copied(move))
	}
	return twin
}

// find returns the folder and the name in it of a path, nil for one that is not there.
func (n *inode) find(root, path string) (folder *inode, name string) {
	below, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(below) {
		return nil, ""
	}
	parts := strings.Split(below, string(filepath.Separator))
	for _, part := range parts[:len(parts)-1] {
		if n = n.live[part]; n == nil || n.live == nil {
			return nil, ""
		}
	}
	return n, parts[len(parts)-1]
}

// change gives a folder's names other meanings, nil for none, all or none of which survive.
func (n *inode) change(entries map[string]*inode) {
	rename(n.live, entries)
	n.moves = append(n.moves, entries)
}

// rename gives names in a folder other meanings, nil for none.
func rename(folder, entries map[string]*inode) {
	maps.Copy(folder, entries)
	maps.DeleteFunc(folder, func(_ string, child *inode) bool { return child == nil })
}

// apply makes a call. One that the system refused, such as the renaming of what is not there,
// changes nothing here either.
func (n *inode) apply(root string, c wholefile.Call) {
	if c.Op == wholefile.OpSyncFolder && filepath.Clean(c.Path) == filepath.Clean(root) {
		n.folder, n.moves = maps.Clone(n.live), nil
		return
	}
	folder, name := n.find(root, c.Path)
	to, second := n.find(root, c.To)
	if folder == nil && c.Op != wholefile.OpSymlink {
		return
	}
	switch c.Op {
	case wholefile.OpCreate:
		folder.change(map[string]*inode{name: {}})
	case wholefile.OpMakeFolder:
		if folder.live[name] == nil {
			folder.change(map[string]*inode{name: newFolder()})
		}
	case wholefile.OpSymlink:
		to.change(map[string]*inode{second: {target: c.Path}})
	case wholefile.OpWrite:
		file := folder.live[name]
		file.writes = append(file.writes, c)
	case wholefile.OpSync:
		folder.live[name].flush(all)
	case wholefile.OpSyncFolder:
		if child := folder.live[name]; child != nil {
			child.folder, child.moves = maps.Clone(child.live), nil
		}
	case wholefile.OpRemove:
		if child := folder.live[name]; child != nil {
			child.empty()
			folder.change(map[string]*inode{name: nil})
		}
	case wholefile.OpLink:
		if file := folder.live[name]; file != nil && to.live[second] == nil {
			to.change(map[string]*inode{second: file})
		}
	case wholefile.OpExchange:
		folder.change(map[string]*inode{name: to.live[second], second: folder.live[name]})
	case wholefile.OpRename:
		file := folder.live[name]
		switch {
		case file == nil || file == to.live[second]: // the system leaves two names of one file
		case folder == to:
			folder.change(map[string]*inode{name: nil, second: file})
		default:
			to.change(map[string]*inode{second: file})
			folder.change(map[string]*inode{name: nil})
		}
	}
}

// empty removes what is in a folder, one after the other.
func (n *inode) empty() {
	for _, name := range slices.Sorted(maps.Keys(n.live)) {
		n.live[name].empty()
		n.change(map[string]*inode{name: nil})
	}
}

// flush makes the writes to a file that are kept, or the part of each.
func (n *inode) flush(kept func() float64) {
	content := bytes.Clone(n.content)
	for _, w := range n.writes {
		data := w.Data[:int(kept()*float64(len(w.Data)))]
		if end := int(w.Offset) + len(data); len(data) > 0 && end > len(content) {
			content = append(content, make([]byte, end-len(content))...)
		}
		copy(content[min(int(w.Offset), len(content)):], data)
	}
	n.content, n.writes = content, nil
}

// cut leaves what is on the disk, with those of the later changes that are kept: of folders more
// than half, of writes a part, all for a third and nothing for another.
func (n *inode) cut(names, writes func() float64, done map[*inode]bool) {
	if done[n] {
		return
	}
	done[n] = true
	for _, move := range n.moves {
		if names() > 0.5 {
			rename(n.folder, move)
		}
	}
	n.moves = nil
	n.flush(func() float64 { return min(max(3*writes()-1, 0), 1) })
	for _, name := range slices.Sorted(maps.Keys(n.folder)) {
		n.folder[name].cut(names, writes, done)
	}
}

// print tells states apart.
func (n *inode) print() string {
	sum := sha256.New()
	n.visit(".", func(name string, child *inode) error {
		fmt.Fprintf(sum, "%s\x00%v\x00%s\x00%x\n", name, child.folder != nil, child.target, sha256.Sum256(child.content))
		return nil
	})
	return string(sum.Sum(nil))
}

func (n *inode) visit(name string, f func(name string, n *inode) error) error {
	if err := f(name, n); err != nil {
		return err
	}
	for _, child := range slices.Sorted(maps.Keys(n.folder)) {
		if err := n.folder[child].visit(filepath.Join(name, child), f); err != nil {
			return err
		}
	}
	return nil
}

func (n *inode) write(folder string) error {
	return n.visit(".", func(name string, child *inode) error {
		path := filepath.Join(folder, name)
		switch {
		case child.folder != nil:
			err := os.Mkdir(path, 0o777)
			if name == "." && errors.Is(err, fs.ErrExist) {
				return nil
			}
			return err
		case child.target != "":
			return os.Symlink(child.target, path)
		}
		return os.WriteFile(path, child.content, 0o666)
	})
}

// Some returns so many of the states, drawn at random, or [Everything].
func Some(states []State, random *rand.Rand, most int) []State {
	if os.Getenv(Everything) != "" || len(states) <= most {
		return states
	}
	random.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
	return states[:most]
}
