package schedule

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
)

// asWorker makes the test program a worker that behaves as the seed of its run says.
const asWorker = "SCHEDULE_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) != "" {
		os.Exit(work(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// The seeds, each a behaviour.
const (
	succeeds = iota + 1
	alsoSucceeds
	fails
	exits
	panics
	aborts
	isKilled
	printsGarbage
	saysNothing
	stopsWhenAsked
	ignoresStop
	dies // when it is asked to stop
	waitsForParent
	describesItself
	diesOnce
	waitsForRelease
)

// release is the file in a run's folder for which waitsForRelease waits.
const release = "release"

// work makes the run whose folder is the last argument.
func work(arguments []string) int {
	words, folder := arguments[:len(arguments)-1], arguments[len(arguments)-1]
	c, err := config.LoadRun(filepath.Join(folder, store.ConfigFile))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	report(os.Stdout, event{Kind: progressEvent, Progress: plan.Progress{Step: 5, Steps: 20}})
	switch c.Seed {
	case fails:
		report(os.Stdout, event{Kind: failedEvent, Reason: "the loss is not a number"})
		return 1
	case exits:
		fmt.Fprintln(os.Stderr, "one\n\ntwo\nthree\nfour\nfive\nsix")
		return 7
	case panics:
		panic("in the worker")
	case aborts:
		signal.Reset()
		fmt.Fprintln(os.Stderr, "before")
		fmt.Fprintln(os.Stderr, "terminate called after throwing an instance of 'c10::Error'")
		syscall.Kill(os.Getpid(), syscall.SIGABRT)
		select {}
	case isKilled:
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case printsGarbage:
		fmt.Println("libwhatever 1.0")
		fmt.Println(`{"event":"party"}`)
		fmt.Print(strings.Repeat("x", 3*lineBuffer), "\n[1,2")
		fmt.Println()
	case saysNothing:
		return 0
	case stopsWhenAsked:
		<-asked
		os.WriteFile(filepath.Join(folder, store.MetricsFile), []byte("so far"), 0o666)
		return StoppedStatus
	case ignoresStop:
		<-asked
		fmt.Println("ignored")
		select {}
	case dies:
		<-asked
		return 9
	case waitsForParent:
		fmt.Println("waiting")
		io.Copy(io.Discard, os.Stdin)
		os.WriteFile(filepath.Join(folder, "orphan"), nil, 0o666)
		return 0
	case diesOnce:
		fmt.Fprintln(os.Stderr, "alive") // as the last words are: two streams may come in any order
		if _, err := os.ReadFile(filepath.Join(folder, "died")); err != nil {
			os.WriteFile(filepath.Join(folder, "died"), nil, 0o666)
			fmt.Fprintln(os.Stderr, "fatal error: in the first life")
			os.Exit(2)
		}
	case waitsForRelease:
		fmt.Println(strings.Join(words, " "))
		for !exists(filepath.Join(folder, release)) {
			time.Sleep(time.Millisecond)
		}
	case describesItself:
		group, _ := syscall.Getpgid(0)
		fmt.Println(strings.Join(words, " "))
		fmt.Println("OMP_NUM_THREADS", os.Getenv("OMP_NUM_THREADS"), "MKL_NUM_THREADS", os.Getenv("MKL_NUM_THREADS"))
		fmt.Println("own group", group == os.Getpid())
	}
	if err := writeResult(plan.Of(c), folder); err != nil {
		report(os.Stdout, event{Kind: failedEvent, Reason: err.Error()})
		return 1
	}
	report(os.Stdout, event{Kind: progressEvent, Progress: plan.Progress{Step: 20, Steps: 20}})
	return 0
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func writeResult(run plan.Run, folder string) error {
	root := strings.TrimSuffix(folder, run.Dir("").String())
	return run.Dir(root).WriteResult(resultOf(run.Config.Experiment, run.ID, run.Config.Hash()))
}

// resultOf returns a result such as a run has, with invented numbers.
func resultOf(experiment string, id store.ID, hash string) store.Result {
	return store.Result{
		ID: id.String(), Experiment: experiment, Variant: id.Variant, Task: id.Task, Method: id.Method, Seed: id.Seed,
		ConfigHash: hash, Versions: map[string]string{}, Device: "cpu", Threads: 1,
		BestAccuracy: store.Measured(0.5), BestEpoch: store.Measured(2), LastAccuracy: store.Measured(0.25), MeanClassAccuracy: store.Measured(0.25),
		Classes: []string{"0"}, Confusion: [][]int{{1}}, Weights: []float64{1}, TrueWeights: []float64{1}, WeightDistance: store.Measured(0.0), JSD: store.Measured(0.0),
		LabelDistributions: store.LabelDistributions{Source: []float64{1}, Target: []float64{1}},
	}
}

// Whatever the number of threads was, in a worker it is the run's; the last entry counts.
// The user's number of arenas stays.
func TestEnvironment(t *testing.T) {
	t.Setenv("OMP_NUM_THREADS", "64")
	t.Setenv("OPENBLAS_CORETYPE", "Haswell")
	t.Setenv(arenas, "")
	environment := Environment(3)
	last := func(name string) string {
		for _, entry := range slices.Backward(environment) {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value
			}
		}
		return ""
	}
	for _, name := range threadVariables {
		if got := last(name); got != "3" {
			t.Errorf("%s=%s", name, got)
		}
	}
	if got := last("OPENBLAS_CORETYPE"); got != "Haswell" {
		t.Errorf("OPENBLAS_CORETYPE=%s", got)
	}
	if got := last(arenas); got != "1" {
		t.Errorf("%s=%s", arenas, got)
	}
	t.Setenv(arenas, "4")
	environment = Environment(3)
	if got := last(arenas); got != "4" {
		t.Errorf("%s=%s in the place of the user's 4", arenas, got)
	}
}
