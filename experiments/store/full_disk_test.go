//go:build unix

package store

import (
	"errors"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/internal/testfiles"
)

// TestFullDisk lets the system refuse bytes past a file's 4096th, as it would on
// a full disk.
func TestFullDisk(t *testing.T) {
	dir := begun(t, t.TempDir(), "full/a-b/dann/seed-1")
	former := []Metrics{{Epoch: 1, Accuracy: Measured(0.5)}}
	if err := dir.WriteMetrics(former); err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	low := limit
	low.Cur = 4096
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low); err != nil {
		t.Fatal(err)
	}
	err := dir.WriteMetrics(make([]Metrics, 10000))
	if restore := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); restore != nil {
		t.Fatal(restore)
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("got error %v, want %v", err, syscall.EFBIG)
	}
	if got, err := dir.ReadMetrics(); err != nil || len(got) != 1 || !cmp.Equal(got, former) {
		t.Errorf("the former file reads %v, %v", got, err)
	}
	if got := testfiles.Names(t, dir.String()); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}
}
