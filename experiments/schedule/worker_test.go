package schedule

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"iwda/experiments/config"
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
	saysDoneWithoutResult
	saysNothing
	stopsWhenAsked
	ignoresStop
	dies // when it is asked to stop
	waitsForParent
	describesItself
)

func work(arguments []string) int {
	folder := arguments[len(arguments)-1]
	file, err := config.Load(filepath.Join(folder, store.ConfigFile))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	c := file.Config
	reporter := NewReporter(os.Stdout)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	reporter.Progress(Progress{Epoch: 1, Epochs: 2, Step: 5, Steps: 20, Accuracy: math.NaN(), Loss: math.Inf(1)})
	switch c.Seeds[0] {
	case fails:
		reporter.Failed(errors.New("the loss is not a number"))
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
	case saysDoneWithoutResult:
		reporter.Done()
		return 0
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
	case describesItself:
		group, _ := syscall.Getpgid(0)
		fmt.Println(strings.Join(arguments[:len(arguments)-1], " "))
		fmt.Println("OMP_NUM_THREADS", os.Getenv("OMP_NUM_THREADS"), "MKL_NUM_THREADS", os.Getenv("MKL_NUM_THREADS"))
		fmt.Println("own group", group == os.Getpid())
	}
	if err := writeResult(c, folder, file); err != nil {
		reporter.Failed(err)
		return 1
	}
	reporter.Progress(Progress{Epoch: 2, Epochs: 2, Step: 20, Steps: 20, Accuracy: 0.5, Loss: 0.25})
	reporter.Done()
	return 0
}

func writeResult(c config.Config, folder string, file *config.File) error {
	variant, task, method, seed := c.Variants[0], c.Tasks[0], c.Methods[0], c.Seeds[0]
	resolved, err := file.Resolve(task, variant, method, seed)
	if err != nil {
		return err
	}
	id := store.RunID(variant, task, method, seed)
	root := strings.TrimSuffix(folder, filepath.Join(c.Experiment, filepath.FromSlash(id)))
	return store.NewDir(root, c.Experiment, id).WriteResult(store.Result{
		ID: id, Experiment: c.Experiment, Variant: variant, Task: task, Method: method, Seed: seed,
		ConfigHash: resolved.Hash(), Versions: map[string]string{}, Device: "cpu", Threads: 1,
		BestAccuracy: 0.5, BestEpoch: 2, LastAccuracy: 0.25, MeanClassAccuracy: 0.25,
		Classes: []string{"0"}, Confusion: [][]int{{1}}, Weights: []float64{1}, TrueWeights: []float64{1},
		LabelDistributions: store.LabelDistributions{Source: []float64{1}, Target: []float64{1}},
	})
}
