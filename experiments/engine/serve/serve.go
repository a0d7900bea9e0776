// Package serve is what iwrun-torch does: it makes runs as a worker, and answers the questions of package engine.
package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"iwda/experiments/config"
	"iwda/experiments/engine"
	"iwda/experiments/network"
	"iwda/experiments/plan"
	"iwda/experiments/schedule"
	"iwda/experiments/store"
	"iwda/experiments/train"
	"iwda/internal/commandline"
	"iwda/internal/convert"
	"iwda/internal/input"
	"iwda/torch"
)

// The commands, behind the number of the protocol.
const (
	workerCommand = "worker"
	serveCommand  = "serve"
)

// Streams are what iwrun-torch reads and writes. Gone ends the process at once, even while C++ computes: whoever
// started it is there no more.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Gone     func()
}

// Run carries out a command line of iwrun-torch and returns the exit status.
func Run(arguments []string, s Streams) int {
	err := errors.New("iwrun starts this program, which makes the runs and applies the models that take libtorch; see iwrun --help")
	ctx, stop := commandline.Interruptible()
	defer stop()
	prepareMemory()
	switch {
	case len(arguments) < 2:
	case engine.CheckProtocol(arguments[0]) != nil:
		err = engine.CheckProtocol(arguments[0])
		json.NewEncoder(s.Out).Encode(engine.NewFailure(err))
	case arguments[1] == workerCommand:
		err = worker(ctx, arguments[2:], s)
	case arguments[1] == serveCommand:
		served := new(server)
		err = engine.Serve(ctx, s.In, s.Out, served.answers(), s.Gone)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return schedule.StoppedStatus
	case err != nil:
		fmt.Fprintf(s.Err, "iwrun-torch: %v\n", err)
		return commandline.StatusFailed
	}
	return 0
}

// prepareMemory has C++ and Go keep little that is not used. Go's collector runs before garbage
// has grown to as much as the data, which stay; a step makes hardly any. GOGC has the last word.
func prepareMemory() {
	const percent = 25
	torch.TuneAllocator()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// worker makes the run of a folder.
func worker(ctx context.Context, arguments []string, s Streams) error {
	var o engine.Work
	if len(arguments) != 2 {
		return errors.New("a worker makes one run: say how, and name its folder")
	}
	if err := json.Unmarshal([]byte(arguments[0]), &o); err != nil {
		return err
	}
	return schedule.Work(arguments[1], s.In, s.Out, s.Gone, func(run plan.Run, dir store.Dir, progress func(plan.Progress)) error {
		device, err := parseDevice(o.Device)
		if err != nil {
			return err
		}
		_, err = train.Run(ctx, run.Config, dir, train.Options{
			Device: device, Threads: o.Threads, Log: s.Err, Progress: progress, Checkpoints: o.Checkpoints,
		})
		return err
	})
}

// server answers questions.
type server struct {
	models []*network.Ensemble
}

func (s *server) answers() map[string]engine.Answer {
	return map[string]engine.Answer{
		engine.Devices:  engine.NewAnswer(devices),
		engine.GetFacts: engine.NewAnswer(facts),
		engine.Open:     engine.NewAnswer(s.open),
		engine.Apply:    engine.NewAnswer(s.apply),
		engine.Measure:  engine.NewAnswer(s.measure),
	}
}

func devices(_ context.Context, names *string) (devices []string, err error) {
	found, err := torch.ParseDevices(*names)
	if err != nil {
		return nil, input.Wrong(fmt.Errorf("--device %s: %w", *names, err))
	}
	return convert.Each(found, torch.Device.String), nil
}

func parseDevice(name string) (torch.Device, error) {
	device, err := torch.ParseDevice(name)
	if err != nil {
		err = input.Wrong(fmt.Errorf("--device %s: %w", name, err))
	}
	return device, err
}

func (s *server) open(_ context.Context, m *engine.Models) (number int, err error) {
	device, err := parseDevice(m.Device)
	if err != nil {
		return 0, err
	}
	opened, err := network.Open(m.Folders, m.Modules, device, m.Threads)
	s.models = append(s.models, opened)
	return len(s.models) - 1, err
}

func (s *server) apply(_ context.Context, r *engine.Rows) (o engine.Outputs, err error) {
	o.Values, err = s.models[r.Of].Logits(r)
	return o, err
}

func (s *server) measure(ctx context.Context, all *[]engine.Work) (engine.Costs, error) {
	var runs []plan.Run
	var options train.Options
	for _, w := range *all {
		resolved, err := config.ParseRun(store.ConfigFile, []byte(w.Config))
		device, deviceErr := parseDevice(w.Device)
		if err := cmp.Or(err, deviceErr); err != nil {
			return engine.Costs{}, err
		}
		runs, options = append(runs, plan.Of(resolved)), train.Options{Device: device, Threads: w.Threads} // it is no run, and logs nothing
	}
	return train.EstimateCost(ctx, runs, options), nil
}

func facts(context.Context, *any) (engine.Facts, error) {
	models := make([]string, torch.CUDADevices())
	for i := range models {
		models[i] = cmp.Or(torch.CUDA(i).Name(), "unknown model")
	}
	return engine.Facts{Torch: torch.Version(), CUDADevices: models, OneDNN: torch.ProductsByOneDNN()}, nil
}
