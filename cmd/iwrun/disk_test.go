package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"iwda/experiments/store"
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
	if err := os.Mkdir("results", 0o777); err != nil {
		t.Fatal(err)
	}
	place, err := filepath.Abs("results")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", place, "tmpfs", 0, "size="+strconv.Itoa(size)); err != nil {
		t.Fatalf("%s: %v", mountRefused, err)
	}
	t.Cleanup(func() { syscall.Unmount(place, syscall.MNT_DETACH) })
}

const ballast = "results/ballast"

// leave fills the disk but for some pages.
func leave(t *testing.T, pages int64) {
	t.Helper()
	var disk syscall.Statfs_t
	if err := syscall.Statfs("results", &disk); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if bytes := (int64(disk.Bavail) - pages) * disk.Bsize; bytes > 0 {
		if err := syscall.Fallocate(int(file.Fd()), 0, 0, bytes); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDisk fills a real disk so that each file of a run is in turn the one that does
// not fit. Nothing finished is lost, the error names the file, and with space the sweep
// goes on.
func TestFullDisk(t *testing.T) {
	if !mayMount(t, func() { fileSizeLimit(t) }) {
		return
	}
	inFolder(t)
	mountDisk(t, 32<<20)
	if status, _, err := call(t, "-c", "tiny.yaml", "--only", "*/*/source-only/*"); status != 0 {
		t.Fatal(err)
	}
	for _, test := range []struct {
		file  string
		pages int64 // that are left
		begin func(store.Dir)
	}{
		{store.ConfigFile, 0, begunAnew},
		{store.MetricsFile, 2, begunAnew}, // lock and config.yaml fit
		{store.WeightsFile, 3, begunAnew},
		{store.CheckpointFile, 20, begunAnew},
		// In the folder of a run that is finished but for its result, which another
		// checkpoint comes before:
		{store.ResultFile, checkpointPages, func(store.Dir) {}},
		{store.LogFile, 0, fullPages},
	} {
		dir := tinyDir("iwdan")
		if err := os.Remove(dir.Path(store.ResultFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		test.begin(dir)
		if test.pages == checkpointPages {
			test.pages = pagesOf(t, dir.Path(store.CheckpointFile))
		}
		leave(t, test.pages)
		status, _, said := call(t, "-c", "tiny.yaml")
		if status != 1 || !refused(dir, test.file, "no space left on device").MatchString(said) {
			t.Errorf("%s: status %d, stderr\n%s", test.file, status, said)
		}
		// A page may be left for error.txt; where there is none, that is said too.
		message, failed, err := dir.ReadFailure()
		if failed == refused(dir, store.FailureFile, "no space left").MatchString(said) || err != nil {
			t.Errorf("%s: error.txt %q, %v, stderr\n%s", test.file, message, err, said)
		}
		withoutTimes(t, tinyDir("source-only"))
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		if status, table, said := call(t, "-c", "tiny.yaml"); status != 0 || !strings.Contains(table, "1/1") {
			t.Errorf("%s, with space: status %d, stderr\n%s", test.file, status, said)
		}
		withoutTimes(t, dir)
	}
}

// checkpointPages stands for as many pages as a checkpoint has.
const checkpointPages = -1

func pagesOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	page := int64(os.Getpagesize())
	return (info.Size() + page - 1) / page
}

// refused matches a message that a file of a run could not be written.
func refused(dir store.Dir, file, why string) *regexp.Regexp {
	return regexp.MustCompile(`write [^ ]*` + regexp.QuoteMeta(dir.Path(file)) + `: [^;]*` + why)
}

func begunAnew(dir store.Dir) { os.RemoveAll(dir.String()) }

// fullPages makes a log whose next byte needs another page, which the beginning of a run
// must not find by removing what the last one left.
func fullPages(dir store.Dir) {
	os.Remove(dir.Path(store.ModelFile))
	os.Remove(dir.Path(store.StatisticsFile))
	text := strings.Repeat(strings.Repeat("x", 63)+"\n", 4*os.Getpagesize()/64)
	os.WriteFile(dir.Path(store.LogFile), []byte(text), 0o666)
}

// fileSizeLimit is the part of TestFullDisk that needs no disk: the system refuses a
// file past some size.
func fileSizeLimit(t *testing.T) {
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

// TestFileSizeLimit makes sure that the replacement of TestFullDisk works everywhere.
func TestFileSizeLimit(t *testing.T) { fileSizeLimit(t) }

// TestReadOnlyResults: nothing starts where nothing can be written, but finished runs are
// shown.
func TestReadOnlyResults(t *testing.T) {
	if !mayMount(t, func() { noFolder(t, "/dev/null/results", "not a directory") }) {
		return
	}
	inFolder(t)
	mountDisk(t, 32<<20)
	if status, _, err := call(t, "-c", "tiny.yaml", "--only", "*/*/source-only/*"); status != 0 {
		t.Fatal(err)
	}
	place, err := filepath.Abs("results")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", place, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
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
