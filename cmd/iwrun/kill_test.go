package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"iwda/experiments/store"
	"iwda/internal/testfiles"
)

const killed = `experiment: killed
dataset: {name: glyphs, train_per_class: 20, test_per_class: 6}
tasks: [clean-warped]
variants: [subsampled]
methods: [iwcdan]
seeds: [1]
train: {epochs: 6, batch: 16}
weights: {min_singular_value: 0}
`

func killedDir(results string) store.Dir {
	return store.NewDir(results, "killed", store.ID{Variant: "subsampled", Task: "clean-warped", Method: "iwcdan", Seed: 1}.String())
}

func startProgram(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(os.Environ(), asProgram+"=yes")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command
}

// killAll sends SIGKILL to a process and, if asked, first to its children, the workers.
func killAll(t *testing.T, process *os.Process, workersToo bool) {
	t.Helper()
	pid := strconv.Itoa(process.Pid)
	if workersToo {
		children, err := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, child := range strings.Fields(string(children)) {
			number, err := strconv.Atoi(child)
			if err != nil {
				t.Fatal(err)
			}
			syscall.Kill(number, syscall.SIGKILL) // it may have ended by itself
		}
	}
	process.Kill()
}

// A run that is killed at random moments, its parent alone or both, ends with the same
// bits as one that was left alone.
func TestKilledAtRandomMoments(t *testing.T) {
	t.Chdir(t.TempDir())
	testfiles.Write(t, "killed.yaml", killed)
	started := time.Now()
	if err := startProgram(t, "-c", "killed.yaml", "-o", "whole").Wait(); err != nil {
		t.Fatal(err)
	}
	length := time.Since(started)

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	const most = 10
	kills, rounds := 0, 0
	for ; kills < most; rounds++ {
		results := "round" + strconv.Itoa(rounds)
		for finished := false; !finished; {
			command := startProgram(t, "-c", "killed.yaml", "-o", results, "--checkpoint-every", "30ms")
			ended := make(chan error, 1)
			go func() { ended <- command.Wait() }()
			var moment <-chan time.Time // never, once there were enough
			if kills < most {
				moment = time.After(time.Duration(random.Float64() * float64(length)))
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Fatalf("round %d, after %d kills: %v", rounds, kills, err)
				}
				finished = true
			case <-moment:
				killAll(t, command.Process, random.IntN(2) == 0)
				kills++
				<-ended
			}
		}
		expectSame(t, killedDir(results), killedDir("whole"))
	}
	t.Logf("%d kills in %d runs of %v", kills, rounds, length.Round(time.Millisecond))
}
