package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
)

func lockOf(t *testing.T, dir Dir) *Lock {
	t.Helper()
	lock := must.Have(dir.Lock())(t)
	t.Cleanup(func() { lock.Close() })
	return lock
}

func TestLock(t *testing.T) {
	dir := NewDir(t.TempDir(), "test", "full/a-b/dann/seed-1")
	if _, locked, err := dir.Locked(); locked || err != nil {
		t.Errorf("without a folder: %v, %v", locked, err)
	}
	lock := lockOf(t, dir)
	host := must.Have(os.Hostname())(t)
	holder := fmt.Sprintf("pid %d, %s", os.Getpid(), host)
	if _, err := dir.Lock(); !errors.Is(err, ErrLocked) || err.Error() != "held by another iwrun ("+holder+")" {
		t.Errorf("locked twice: %v", err)
	}
	if by, locked, err := dir.Locked(); by != holder || !locked || err != nil {
		t.Errorf("held by %q, %v, %v", by, locked, err)
	}
	if err := dir.Begin(); err != nil || !lock.Held() {
		t.Errorf("a run that begins: %v, held %v", err, lock.Held())
	}
	if err := dir.Clear(); err != nil || !lock.Held() {
		t.Errorf("a run that begins anew: %v, held %v", err, lock.Held())
	}
	must.Do(t, lock.Close())
	if _, locked, err := dir.Locked(); locked || err != nil {
		t.Errorf("let go: %v, %v", locked, err)
	}
	lockOf(t, dir)
}

// TestLockOfDeletedFolder: who holds the lock of a folder that was made anew does not
// keep others from it, and can tell.
func TestLockOfDeletedFolder(t *testing.T) {
	dir := NewDir(t.TempDir(), "test", "full/a-b/dann/seed-1")
	former := lockOf(t, dir)
	must.Do(t, os.RemoveAll(dir.String()))
	if former.Held() {
		t.Error("held without a folder")
	}
	present := lockOf(t, dir)
	if former.Held() || !present.Held() {
		t.Errorf("former held: %v, present held: %v", former.Held(), present.Held())
	}
	must.Do(t, former.Close())
	if _, err := dir.Lock(); !errors.Is(err, ErrLocked) {
		t.Errorf("the former holder let go of the present lock: %v", err)
	}
}

// TestLockIsInherited: a child holds the lock for as long as it lives.
func TestLockIsInherited(t *testing.T) {
	dir := NewDir(t.TempDir(), "test", "full/a-b/dann/seed-1")
	lock := lockOf(t, dir)
	child := exec.Command("cat")
	child.ExtraFiles = []*os.File{lock.File()}
	input := must.Have(child.StdinPipe())(t)
	must.Do(t, child.Start())
	must.Do(t, lock.Close())
	if _, err := dir.Lock(); !errors.Is(err, ErrLocked) {
		t.Errorf("while the child lives: %v", err)
	}
	io.WriteString(input, "end")
	input.Close()
	must.Do(t, child.Wait())
	lockOf(t, dir)
}

func TestLockWithoutPlace(t *testing.T) {
	path := t.TempDir() + "/file"
	testfiles.Write(t, path, "")
	if _, err := NewDir(path, "test", "full/a-b/dann/seed-1").Lock(); err == nil || errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

func TestClear(t *testing.T) {
	dir := NewDir(t.TempDir(), "test", "full/a-b/dann/seed-1")
	lockOf(t, dir)
	for _, name := range append([]string{"notes.txt", ".metrics.csv" + ".tmp-1"}, runFiles...) {
		testfiles.Write(t, dir.Path(name), "")
	}
	if !dir.Worked() {
		t.Error("a folder with a result and checkpoints holds no work")
	}
	must.Do(t, dir.Clear())
	if got := strings.Join(testfiles.Names(t, dir.String()), " "); got != "lock notes.txt" {
		t.Errorf("left: %s", got)
	}
	if dir.Worked() {
		t.Error("an empty folder holds work")
	}
}

// A file system without locks, as some of a network, is refused in words; nothing is begun.
func TestFileSystemWithoutLocks(t *testing.T) {
	for _, why := range []error{syscall.ENOLCK, syscall.ENOSYS, syscall.EOPNOTSUPP} {
		disk := &wholefile.Disk{Before: func(c *wholefile.Call) error {
			if c.Op == wholefile.OpLock {
				return why
			}
			return nil
		}}
		dir := NewDir(t.TempDir(), digits, "full/a-b/dann/seed-1").On(disk)
		_, err := dir.Lock()
		if !errors.Is(err, why) || !strings.Contains(err.Error(), dir.Path(LockFile)) || !strings.Contains(err.Error(), "put the results on a file system with locks") {
			t.Errorf("%v: error %v", why, err)
		}
		if _, locked, err := dir.Locked(); locked || err == nil {
			t.Errorf("%v: locked %v, error %v", why, locked, err)
		}
	}
}
