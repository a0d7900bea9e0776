package wholefile

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"iwda/internal/system"
)

// Disk is where files are written. A nil Disk is the system's, and so is the zero one.
type Disk struct {
	// Before is told of every call that changes something, before it is made. If it returns
	// an error, the call is not made and fails with that error; of a write, the Data that
	// Before leaves are written all the same. Several goroutines may call it.
	Before func(*Call) error
}

// Call is a call to the system by which files change.
type Call struct {
	Op       Op
	Path, To string // To is the second name of renaming, exchanging and links
	Data     []byte // of a write, from Offset on
	Offset   int64
}

// Op is what a call does.
type Op string

// The calls.
const (
	OpCreate     Op = "open"
	OpWrite      Op = "write"
	OpSync       Op = "sync"
	OpClose      Op = "close"
	OpRename     Op = "rename"
	OpExchange   Op = "exchange" // two folders
	OpLink       Op = "link"
	OpSymlink    Op = "symlink"
	OpMakeFolder Op = "mkdir"
	OpRemove     Op = "remove" // with all that is in it
	OpLock       Op = "flock"  // so that a file system without locks can be had
	OpSyncFolder Op = "sync folder"
)

// do makes a call unless Before refuses it.
func (d *Disk) do(c Call, make func() error) error {
	if d != nil && d.Before != nil {
		if err := d.Before(&c); err != nil {
			return &fs.PathError{Op: string(c.Op), Path: c.Path, Err: err}
		}
	}
	return make()
}

// Rename gives a file another name, in place of one that has it. Who calls makes sure that the
// folder is flushed.
func (d *Disk) Rename(from, to string) error {
	return d.do(Call{Op: OpRename, Path: from, To: to}, func() error { return system.Rename(from, to) })
}

func (d *Disk) link(from, to string) error {
	return d.do(Call{Op: OpLink, Path: from, To: to}, func() error { return os.Link(from, to) })
}

// remove removes a file, or a folder with what is in it, if it is there.
func (d *Disk) remove(path string) error {
	return d.do(Call{Op: OpRemove, Path: path}, func() error { return system.RemoveAll(path) })
}

// Lock is [system.Lock].
func (d *Disk) Lock(file *os.File, how int) error {
	return d.do(Call{Op: OpLock, Path: file.Name()}, func() error { return system.Lock(file, how) })
}

// RemoveFrom removes those of a folder's entries that are there, and flushes the folder if any
// was: what is written afterwards does not stand beside them after a power cut.
func (d *Disk) RemoveFrom(folder string, names ...string) error {
	removed := false
	for _, name := range names {
		path := filepath.Join(folder, name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := d.remove(path); err != nil {
			return err
		}
		removed = true
	}
	if !removed {
		return nil
	}
	return d.syncFolder(folder)
}

// MakeFolder makes a folder and those above it, as far as they are missing, so that they
// outlive a power cut.
func (d *Disk) MakeFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: string(OpMakeFolder), Path: path, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(path)
	if err := d.MakeFolder(parent); err != nil {
		return err
	}
	err = d.do(Call{Op: OpMakeFolder, Path: path}, func() error { return os.Mkdir(path, 0o777) })
	if errors.Is(err, fs.ErrExist) { // somebody else made it meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	return d.syncFolder(parent)
}

// syncFolder flushes the folder's entries to the disk, so that a rename outlives
// a power cut.
func (d *Disk) syncFolder(path string) error {
	return d.do(Call{Op: OpSyncFolder, Path: path}, func() error { return system.SyncFolder(path) })
}

// newFile is a file that is being written, under a temporary name and locked.
type newFile struct {
	*bufio.Writer
	raw rawFile
}

// rawFile is a newFile without its buffer. It has no other methods of the file that write: they
// would pass by the disk, and write elsewhere.
type rawFile struct {
	file *os.File
	disk *Disk
	end  *int64 // of what was written so far
}

// create makes a new file beside path. Its lock tells it from one that a process left when it
// died. A file system without locks does without.
func (d *Disk) create(path string) (*newFile, error) {
	for {
		name := temporaryName(path)
		var file *os.File
		err := d.do(Call{Op: OpCreate, Path: name}, func() (err error) {
			// Not os.CreateTemp, whose files only their owner can read whatever the umask.
			file, err = system.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
			return err
		})
		if err != nil {
			return nil, err
		}
		system.Lock(file, system.Exclusive)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			file.Close() // taken for one that was left, before it was locked
			continue
		}
		raw := rawFile{file, d, new(int64)}
		return &newFile{bufio.NewWriter(raw), raw}, nil
	}
}

func (f rawFile) Write(data []byte) (int, error) {
	n, err := f.write(data, *f.end)
	*f.end += int64(n)
	return n, err
}

func (f rawFile) write(data []byte, at int64) (n int, err error) {
	c := Call{Op: OpWrite, Path: f.file.Name(), Data: data, Offset: at}
	if f.disk != nil && f.disk.Before != nil {
		if err = f.disk.Before(&c); err != nil {
			err = &fs.PathError{Op: string(OpWrite), Path: f.file.Name(), Err: err}
		} else {
			c.Data = data
		}
	}
	if len(c.Data) > 0 || err == nil {
		var refused error
		if n, refused = f.file.WriteAt(c.Data, at); refused != nil {
			err = refused
		}
	}
	return n, err
}

func (f *newFile) WriteAt(data []byte, offset int64) (int, error) {
	if err := f.Flush(); err != nil {
		return 0, err
	}
	return f.raw.write(data, offset)
}

func (f *newFile) sync() error {
	return f.raw.disk.do(Call{Op: OpSync, Path: f.raw.file.Name()}, f.raw.file.Sync)
}

func (f *newFile) close() error {
	return f.raw.disk.do(Call{Op: OpClose, Path: f.raw.file.Name()}, f.raw.file.Close)
}

// removeLeft removes what processes left that died while they wrote path. What is locked is
// still being written.
func (d *Disk) removeLeft(path string) {
	folder, name := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Clean(folder + "."))
	for _, entry := range entries {
		if of, is := temporaryOf(entry.Name()); !is || of != name {
			continue
		}
		left, err := system.OpenFile(folder+entry.Name(), os.O_RDONLY, 0)
		if err != nil {
			continue
		}
		if system.Lock(left, system.Exclusive|system.NoWaiting) == nil {
			d.remove(left.Name())
		}
		left.Close()
	}
}
