package train

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"iwda/experiments/config"
	"iwda/experiments/plan"
	"iwda/experiments/store"
	"iwda/internal/launcher"
	"iwda/internal/ranks"
	"iwda/nets"
	"iwda/torch"
)

// The variables that tell a process which a test started what to do, in which folder.
const (
	memberVariable = "IWDA_TEST_MEMBER"
	folderVariable = "IWDA_TEST_FOLDER"
)

// members are what such a process does; an error is its exit status 1.
var members = map[string]func(*torch.ProcessGroup, string) error{
	"one step":             writeStep,
	"run":                  runTogether,
	"refusals":             expectRefusals,
	"restarts":             restartTogether,
	"restarts, read later": restartReadingLater,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(memberVariable); name != "" {
		os.Exit(member(members[name]))
	}
	os.Exit(m.Run())
}

func member(act func(*torch.ProcessGroup, string) error) int {
	found, _, err := launcher.FromEnvironment(os.LookupEnv)
	if err == nil {
		var group *torch.ProcessGroup
		if group, err = torch.NewProcessGroup(torch.GroupOptions{Group: found, Timeout: 2 * time.Minute}); err == nil {
			err = act(group, os.Getenv(folderVariable))
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// together starts two processes that do the same in a folder.
func together(t *testing.T, what, folder string, environment ...string) []*ranks.Process {
	return ranks.Start(t, 2, append(environment, memberVariable+"="+what, folderVariable+"="+folder)...)
}

func mustSucceed(t *testing.T, processes []*ranks.Process) {
	t.Helper()
	for rank, p := range processes {
		if status, said := p.Wait(); status != 0 {
			t.Fatalf("process %d: status %d\n%s", rank, status, said)
		}
	}
}

// evaluating is a network without dropout and with batch normalisation as in evaluation.
type evaluating struct{ nets.Network }

func (e evaluating) Forward(x torch.Tensor, _ bool) (features, logits torch.Tensor) {
	return e.Network.Forward(x, false)
}

// stepsCompared are settings of the steps that two processes make like one.
var stepsCompared = map[string][]string{
	"dann":      nil,
	"iwdan":     nil,
	"iwdan-o":   {"losses.classification=weighted-balanced-released"},
	"iwcdan":    {"losses.classification=weighted-balanced"},
	"cdan-e":    nil,
	"iwcdan-e":  nil,
	"cdan+wda":  nil,
	"cdan+wc-o": nil,
}

// stepTensors makes one step of a run and returns its gradients, losses and what the class
// weights' statistics hold.
func stepTensors(method string, group *torch.ProcessGroup) (tensors map[string]torch.Tensor, err error) {
	run, err := parse(tiny, "subsampled", method, 1, append([]string{"discriminator.dropout=0"}, stepsCompared[method]...)...)
	if err != nil {
		return nil, err
	}
	t, err := newTrainer(context.Background(), run, store.Dir{}, Options{Threads: 1, Group: group}, time.Now())
	if err != nil {
		return nil, err
	}
	defer t.close()
	t.model.network = evaluating{t.model.network}
	weights := make([]float32, len(t.classWeights.Source))
	for class := range weights {
		weights[class] = 0.25 * float32(class+1)
	}
	torch.CopyFromSlice(t.classWeights.inLosses, weights)
	if err := t.step(context.Background(), position{epoch: 2}); err != nil {
		return nil, err
	}
	tensors = map[string]torch.Tensor{}
	for name, state := range map[string]nets.State{"network's gradient": t.model.state(), "alignment's gradient": t.objective.state()} {
		var gradients []torch.Tensor
		for _, parameter := range state.Parameters() {
			gradient, _ := parameter.Grad()
			gradients = append(gradients, gradient.Reshape(-1))
		}
		tensors[name] = torch.Cat(0, gradients...)
	}
	sums, statistics := t.record.sums, t.classWeights.statistics.State()
	tensors["losses"] = torch.FromSlice([]float64{sums.Classification, sums.Domain, sums.Total}, 3)
	tensors["joint"] = torch.FromSlice(statistics.Joint, len(statistics.Joint))
	tensors["target"] = torch.FromSlice(statistics.Target, len(statistics.Target))
	return tensors, nil
}

// inOrder goes through a map in the order of its keys, which processes must share.
func inOrder[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

func writeStep(group *torch.ProcessGroup, folder string) error {
	for method := range inOrder(stepsCompared) {
		tensors, err := stepTensors(method, group)
		if err != nil {
			return err
		}
		var named []torch.Named
		for name, tensor := range inOrder(tensors) {
			named = append(named, torch.Named{Name: name, Tensor: tensor})
		}
		file, err := os.Create(filepath.Join(folder, fmt.Sprintf("%s-%d", method, group.Rank())))
		if err != nil {
			return err
		}
		if err := errors.Join(torch.WriteTensors(file, named, nil), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Two processes with 8 rows each make the step that one makes with 16: gradients, losses
// and statistics of the class weights.
func TestTwoProcessesMakeTheStepOfOne(t *testing.T) {
	folder := t.TempDir()
	mustSucceed(t, together(t, "one step", folder))
	for method := range stepsCompared {
		t.Run(method, func(t *testing.T) {
			torch.Tidy(func() {
				whole, err := stepTensors(method, nil)
				if err != nil {
					t.Fatal(err)
				}
				for rank := range 2 {
					content, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%s-%d", method, rank)))
					if err != nil {
						t.Fatal(err)
					}
					shared, _, err := torch.ParseTensors(content)
					if err != nil {
						t.Fatal(err)
					}
					if len(shared) != len(whole) {
						t.Errorf("process %d has %d tensors, one process %d", rank, len(shared), len(whole))
					}
					for name, want := range whole {
						if d := relativeDistance(shared[name], want); !(d < 1e-6) {
							t.Errorf("process %d: %s differs by %.2g of its norm", rank, name, d)
						}
					}
				}
			})
		})
	}
}

// relativeDistance is ‖a - b‖/‖b‖.
func relativeDistance(a, b torch.Tensor) float64 {
	difference, norm := 0.0, 0.0
	x, y := torch.ToSlice[float64](a.To(torch.Float64, torch.CPU)), torch.ToSlice[float64](b.To(torch.Float64, torch.CPU))
	for i := range y {
		difference += (x[i] - y[i]) * (x[i] - y[i])
		norm += y[i] * y[i]
	}
	return math.Sqrt(difference / norm)
}

// endVariable tells how the process of rank 1 ends in the middle of a run.
const endVariable = "IWDA_TEST_END"

// ends are what that process does to itself between two steps.
var ends = map[string]func(stop context.CancelFunc){
	"killed":  func(context.CancelFunc) { syscall.Kill(os.Getpid(), syscall.SIGKILL) },
	"stopped": func(stop context.CancelFunc) { stop() },
}

func shared() (config.Resolved, error) {
	return parse(tiny, "subsampled", "iwcdan", 1, "train.epochs=5", "dataset.train_per_class=8")
}

// runTogether makes a run of 25 steps, which may end for rank 1 after 10.
func runTogether(group *torch.ProcessGroup, folder string) error {
	run, err := shared()
	if err != nil {
		return err
	}
	dir := plan.Of(run).Dir(folder)
	if group.Rank() == 0 {
		if err := dir.Begin(); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	looks := 0
	asked := watched{ctx, func() {
		looks++
		if end, ok := ends[os.Getenv(endVariable)]; ok && group.Rank() == 1 && looks == 2 {
			end(stop)
		}
	}}
	_, err = Run(asked, run, dir, Options{Threads: 1, Group: group, Checkpoints: plan.Interval{Epochs: 1}})
	return err
}

// What one process's death or stop interrupts ends with the same bits when both go on.
func TestTwoProcessesGoOn(t *testing.T) {
	run, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	uninterrupted := t.TempDir()
	mustSucceed(t, together(t, "run", uninterrupted))
	want := outcomeOf(t, plan.Of(run).Dir(uninterrupted))
	if want.Result.Processes != 2 {
		t.Errorf("%d processes in the result", want.Result.Processes)
	}
	for end, says := range map[string]string{"killed": "torch: ProcessGroup", "stopped": "context canceled"} {
		t.Run(end, func(t *testing.T) {
			folder := t.TempDir()
			processes := together(t, "run", folder, endVariable+"="+end)
			if status, said := processes[0].Wait(); status != 1 || !strings.Contains(said, says) {
				t.Errorf("status %d\n%s", status, said)
			}
			dir := plan.Of(run).Dir(folder)
			if paths := dir.Checkpoints(); len(paths) == 0 {
				t.Fatal("no checkpoint")
			}
			if _, finished, _ := dir.Finished(run.Hash()); finished {
				t.Fatal("the run was not interrupted")
			}
			mustSucceed(t, together(t, "run", folder))
			if diff := want.diff(outcomeOf(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// expectRefusals tries what several processes cannot do.
func expectRefusals(group *torch.ProcessGroup, _ string) error {
	for _, c := range []struct {
		method string
		set    []string
		says   string
	}{
		{"jan", nil, "jan compares all rows of a batch with each other"},
		{"dann", []string{"train.batch=15"}, "train.batch is 15 rows of each domain, which 2 processes cannot share"},
	} {
		run, err := parse(tiny, "subsampled", c.method, 1, c.set...)
		if err != nil {
			return err
		}
		_, err = newTrainer(context.Background(), run, store.Dir{}, Options{Threads: 1, Group: group}, time.Now())
		if err == nil || !strings.Contains(err.Error(), c.says) {
			return fmt.Errorf("%s %v: error %v, want %q", c.method, c.set, err, c.says)
		}
	}
	if err := (processes{group}).sameStep(group.Rank()); err == nil || !strings.Contains(err.Error(), "the folder of results must be the same") {
		return fmt.Errorf("different steps: error %v", err)
	}
	return nil
}

func TestWhatProcessesCannotDoTogether(t *testing.T) { mustSucceed(t, together(t, "refusals", "")) }
