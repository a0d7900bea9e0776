package wholefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"iwda/internal/system"
)

// WriteFolder replaces the folder at path by what write puts into a new one, in one step: a
// reader sees the former folder or the new one, never something of both. What is in the former
// one and keep tells of, by its path in the folder, stays: as a second name of the same file. If
// anything fails before the step, the former folder stays as it was.
//
// The folder that holds path must be writable, and path no mount point. A file system that cannot
// exchange two folders has none at path for a moment; the former one lies beside it then, under a
// temporary name.
func (d *Disk) WriteFolder(path string, keep func(name string) bool, write func(folder string) error) error {
	if err := d.replaceFolder(path, keep, write); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

func (d *Disk) replaceFolder(path string, keep func(string) bool, write func(string) error) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	former, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := d.MakeFolder(filepath.Dir(path)); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		path = former
		d.removeLeft(path) // without the folder they may be all that there is of it
	}
	made := temporaryName(path)
	if err := d.MakeFolder(made); err != nil {
		return err
	}
	release, err := system.LockFolder(made)
	if err != nil {
		return err
	}
	defer release()
	defer func() { err = errors.Join(err, d.remove(made)) }()
	if err := write(made); err != nil {
		return err
	}
	if former == "" {
		if err := d.Rename(made, path); err != nil {
			return err
		}
		return d.syncFolder(filepath.Dir(path))
	}
	if err := d.linkAll(path, made, ".", keep); err != nil {
		return err
	}
	if err := d.exchange(made, path); err != nil {
		return err
	}
	return d.syncFolder(filepath.Dir(path))
}

// exchange puts a folder into the place of another one, and that into its.
func (d *Disk) exchange(made, path string) error {
	err := d.do(Call{Op: OpExchange, Path: made, To: path}, func() error { return exchange(made, path) })
	if !slices.ContainsFunc([]error{syscall.EINVAL, syscall.ENOSYS, errors.ErrUnsupported}, func(e error) bool { return errors.Is(err, e) }) {
		return err
	}
	aside := temporaryName(path)
	if err := d.Rename(path, aside); err != nil {
		return err
	}
	if err := d.Rename(made, path); err != nil {
		return errors.Join(err, d.Rename(aside, path))
	}
	return d.Rename(aside, made)
}

// linkAll gives what is in a folder of from and keep tells of a second name in the same folder
// of to, but for names that are there.
func (d *Disk) linkAll(from, to, folder string, keep func(name string) bool) error {
	entries, err := os.ReadDir(filepath.Join(from, folder))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := filepath.Join(folder, entry.Name())
		old, second := filepath.Join(from, name), filepath.Join(to, name)
		if !keep(name) {
			continue
		}
		if _, err := os.Lstat(second); err == nil && !entry.IsDir() {
			continue
		}
		switch {
		case entry.IsDir():
			if err = d.MakeFolder(second); err == nil {
				err = d.linkAll(from, to, name, keep)
			}
		case entry.Type()&fs.ModeSymlink != 0:
			var target string
			if target, err = os.Readlink(old); err == nil {
				err = d.do(Call{Op: OpSymlink, Path: target, To: second}, func() error { return os.Symlink(target, second) })
			}
		case entry.Type().IsRegular():
			err = d.Link(second, old)
		default:
			err = fmt.Errorf("%s, which is in the folder, is no file: move it elsewhere", old)
		}
		if err != nil {
			return err
		}
	}
	return d.syncFolder(filepath.Join(to, folder))
}
