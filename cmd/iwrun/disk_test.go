package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// asNamespace tells the test program that it may mount what it likes.
const asNamespace = "IWRUN_TEST_NAMESPACE"

// mayMount makes the test again in a process with mounts of its own, and reports there
// that it does. It calls without where the system does not permit that.
func mayMount(t *testing.T, without func()) bool {
	t.Helper()
	if os.Getenv(asNamespace) != "" {
		return true
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), asNamespace+"=yes")
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && strings.Contains(string(out), mountRefused):
		without()
	case errors.As(err, &exit):
		t.Errorf("in a namespace: %v\n%s", err, out)
	case err != nil:
		t.Log("no namespaces here:", err)
		without()
	}
	return false
}

const mountRefused = "the system refuses to mount"

// mountDisk mounts a disk of that many bytes at ./results.
func mountDisk(t *testing.T, size int) {
	t.Helper()
	testfiles.MakeFolder(t, "results")
	place := must.Have(filepath.Abs("results"))(t)
	if err := syscall.Mount("tmpfs", place, "tmpfs", 0, "size="+strconv.Itoa(size)); err != nil {
		t.Fatalf("%s: %v", mountRefused, err)
	}
	t.Cleanup(func() { syscall.Unmount(place, syscall.MNT_DETACH) })
}

// refused matches a message that a file of a run could not be written.
func refused(dir store.Dir, file, why string) *regexp.Regexp {
	return regexp.MustCompile(`write [^ ]*` + regexp.QuoteMeta(dir.Path(file)) + `: [^;]*` + why)
}

// TestFileSizeLimit: a file that the system refuses is named, and with space the run goes on.
func TestFileSizeLimit(t *testing.T) {
	inFolder(t)
	t.Setenv(asFault, "small files")
	dir := tinyDir("iwdan")
	status, _, said := call(t, "-c", "tiny.yaml")
	if status != 1 || !refused(dir, store.CheckpointFile, "file too large").MatchString(said) {
		t.Errorf("status %d, stderr\n%s", status, said)
	}
	t.Setenv(asFault, "")
	if status, _, said := call(t, "-c", "tiny.yaml"); status != 0 {
		t.Errorf("with space: status %d, stderr\n%s", status, said)
	}
}

// TestReadOnlyResults: nothing starts where nothing can be written, but finished runs are
// shown.
func TestReadOnlyResults(t *testing.T) {
	if !mayMount(t, func() { noFolder(t, "/dev/null/results", "not a directory") }) {
		return
	}
	inFolder(t)
	mountDisk(t, 32<<20)
	succeed(t, "-c", "tiny.yaml", "--only", "*/*/source-only/*")
	place := must.Have(filepath.Abs("results"))(t)
	must.Do(t, syscall.Mount("", place, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	noFolder(t, "results", "read-only file system")
	if status, table, said := call(t, "-c", "tiny.yaml", "--only", "*/*/source-only/*"); status != 0 || !strings.Contains(table, "| source-only ") {
		t.Errorf("finished runs: status %d, stderr\n%s", status, said)
	}
}

// noFolder expects that results cannot go to a folder, and why.
func noFolder(t *testing.T, folder, why string) {
	t.Helper()
	if _, err := os.Stat("tiny.yaml"); err != nil {
		inFolder(t)
	}
	status, out, said := call(t, "-c", "tiny.yaml", "-o", folder)
	want := neverAligned("1 run", "subsampled/clean-warped/iwdan/seed-1") + fmt.Sprintf("iwrun: -o %s: nothing can be written there: ", folder)
	if status != 2 || out != "" || !strings.HasPrefix(said, want) || !strings.Contains(said, why) || strings.Contains(said, "started") {
		t.Errorf("status %d, stdout %q, stderr\n%s", status, out, said)
	}
}

// addressesInUse returns the size in bytes of this process's address space.
func addressesInUse() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	pages, err := strconv.ParseUint(strings.Fields(string(text))[0], 10, 64)
	if err != nil {
		panic(err)
	}
	return pages * uint64(os.Getpagesize())
}
