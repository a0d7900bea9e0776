package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"iwda/internal/input"
	"iwda/internal/system"
	"iwda/internal/wholefile"
)

// LockFile is held by whoever makes the run. It stays when the run has ended: a file
// that is removed while another process waits for it would be two locks.
const LockFile = "lock"

// ErrLocked is in the error for a run that another process makes.
var ErrLocked = errors.New("held by another iwrun")

// Lock keeps other processes from making the same run. The system takes it away when
// the last process that has the file open ends, however it ends.
type Lock struct {
	path string
	file *os.File
	disk *wholefile.Disk
}

// Lock takes the run for this process; the folder is created if need be. The error
// wraps ErrLocked and names the holder if another process has it.
func (d Dir) Lock() (*Lock, error) {
	for {
		if err := d.disk.MakeFolder(d.String()); err != nil {
			return nil, fmt.Errorf("cannot create the run's folder: %w", err)
		}
		file, err := os.OpenFile(d.Path(LockFile), os.O_RDWR|os.O_CREATE, 0o666)
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody deleted the folder in between
		}
		if err != nil {
			return nil, fmt.Errorf("cannot lock the run: %w", err)
		}
		lock := &Lock{d.Path(LockFile), file, d.disk}
		if err := lock.take(); err != nil {
			file.Close()
			return nil, err
		}
		if lock.Held() {
			return lock, nil
		}
		// The folder was deleted before the lock was there: the file that is locked
		// now is not the one that others find.
		file.Close()
	}
}

// take locks the file and writes who holds it. To whoever only looks at that moment, with Locked, it
// is locked too.
func (l *Lock) take() error {
	err := l.disk.Lock(l.file, system.Exclusive|system.NoWaiting)
	if errors.Is(err, system.ErrLocked) {
		return fmt.Errorf("%w (%s)", ErrLocked, holder(l.path))
	}
	if err != nil {
		return fmt.Errorf("cannot lock %s: %w; put the results on a file system with locks", l.path, err)
	}
	// Without space for its name the lock holds all the same.
	host, _ := os.Hostname()
	if l.file.Truncate(0) == nil {
		fmt.Fprintf(l.file, "pid %d, %s\n", os.Getpid(), host)
	}
	return nil
}

// Held reports whether the lock is the one that other processes find: it is not once
// somebody has deleted or replaced the run's folder.
func (l *Lock) Held() bool {
	ours, err := l.file.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(l.path)
	return err == nil && os.SameFile(ours, found)
}

// File is what a child process must inherit to hold the lock too, for as long as it
// lives.
func (l *Lock) File() *os.File { return l.file }

// Close lets go of the lock. Processes that inherited it still hold it.
func (l *Lock) Close() error { return l.file.Close() }

// Locked reports whether a process makes the run at this moment, and which one. It keeps
// nobody from beginning the run meanwhile.
func (d Dir) Locked() (by string, locked bool, err error) {
	file, err := input.Open(d.Path(LockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer file.Close() // which lets go of the shared lock
	err = d.disk.Lock(file, system.Shared|system.NoWaiting)
	if errors.Is(err, system.ErrLocked) {
		return holder(file.Name()), true, nil
	}
	return "", false, err
}

// holder returns what the holder of a lock wrote about itself.
func holder(path string) string {
	text, _ := input.Read(path, input.Words)
	if name := strings.TrimSpace(string(text)); name != "" {
		return name
	}
	return "which one is not known"
}

// Place is a folder in which a command works for long.
type Place struct {
	path string
	was  os.FileInfo // nil if there was none
}

// PlaceOf returns the place of a folder as it is now.
func PlaceOf(folder string) Place {
	info, err := os.Stat(folder)
	if err != nil {
		return Place{folder, nil}
	}
	return Place{folder, info}
}

// Check returns an error if another folder, or none, is there now: somebody has moved, deleted or replaced
// it, and what is written would not be with the rest.
func (p Place) Check() error {
	if p.was == nil {
		return nil
	}
	if now, err := os.Stat(p.path); err != nil || !os.SameFile(p.was, now) {
		return fmt.Errorf("%s was moved, deleted or replaced while the command ran: nothing more is written there; to go on, give the same command with -o and the folder's new place", p.path)
	}
	return nil
}
