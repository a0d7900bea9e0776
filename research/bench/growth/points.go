package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"iwda/datasets"
	"iwda/research/bench/worker"
	"iwda/research/npz"
)

// What the size of a point is.
const (
	classes = "classes"
	batch   = "batch"
	rows    = "rows"
)

// point is a run whose time and memory are measured.
type point struct {
	against, series string
	size            int
	method          string
	network         string
	projection      int // of CDAN's p ⊗ z; 0: none
	batch           int
	features        features // zero: drawn digits
}

// features is the size of a data set of vectors.
type features struct{ rows, size, classes int }

func (p point) String() string { return fmt.Sprintf("%s, %s: %d", p.against, p.series, p.size) }

// points are all that is measured: each size alone grows, the others are those of the
// paper's experiments, but for features of 64 numbers.
func points() []point {
	const mlp = "{name: mlp, features: 256, layers: 1}"
	var all []point
	for _, k := range []int{2, 10, 31, 100, 345, 1000} {
		f := features{rows: max(2000, 4*k), size: 64, classes: k}
		all = append(all,
			point{classes, "CDAN", k, "cdan", mlp, 0, 36, f},
			point{classes, "CDAN, projected to 1024", k, "cdan", mlp, 1024, 36, f})
	}
	for _, b := range []int{16, 64, 256, 1024} {
		all = append(all,
			point{batch, "DANN, LeNet", b, "dann", "{name: lenet}", 0, b, features{}},
			point{batch, "CDAN, LeNet", b, "cdan", "{name: lenet}", 0, b, features{}},
			point{batch, "JAN, features", b, "jan", mlp, 0, b, features{4000, 64, 31}})
	}
	for _, n := range []int{1e3, 1e4, 1e5, 1e6} {
		all = append(all, point{rows, "IWDAN, features", n, "iwdan", mlp, 0, 64, features{n, 64, 10}})
	}
	return all
}

// measurement is what a point took.
type measurement struct {
	point
	stepMS, megabytes, startSeconds float64
}

// leastSteps are counted, however long they take.
const leastSteps = 3

// measure runs a worker on the point's experiment.
func (p point) measure(folder string, watched time.Duration) (measurement, error) {
	folder, err := os.MkdirTemp(folder, "point")
	if err != nil {
		return measurement{}, err
	}
	defer os.RemoveAll(folder)
	if err := p.writeFeatures(folder); err != nil {
		return measurement{}, err
	}
	dir, err := worker.Prepare(folder, p.experiment(folder))
	if err != nil {
		return measurement{}, err
	}
	m := measurement{point: p}
	var first, last int // steps
	var begun, ended time.Duration
	command := worker.Command(dir)
	err = worker.Follow(command, func(line string, since time.Duration) bool {
		step := worker.Step(line)
		if step == 0 {
			return false
		}
		if first == 0 {
			first, begun = step, since
		}
		last, ended = step, since
		return ended-begun >= watched && last-first >= leastSteps
	})
	if err != nil {
		return measurement{}, err
	}
	usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return measurement{}, errors.New("the system does not tell a process's memory")
	}
	m.startSeconds = begun.Seconds()
	m.stepMS = (ended - begun).Seconds() * 1e3 / float64(last-first)
	m.megabytes = float64(usage.Maxrss) * 1024 / 1e6 // Linux counts in KiB
	return m, nil
}

// experiment is a file with the one run of the point, which does not end by itself.
func (p point) experiment(folder string) string {
	data := "dataset: {name: glyphs, train_per_class: 200, test_per_class: 10}\ntasks: [clean-warped]"
	if p.features.rows > 0 {
		data = fmt.Sprintf("dataset: {name: files, root: %q, domains: {source: {path: source.npz}, target: {path: target.npz}}}\ntasks: [source-target]", folder)
	}
	return fmt.Sprintf(`experiment: growth
%s
variants: [full]
methods: [%s]
seeds: [1]
network: %s
discriminator: {hidden: 500, random_projection: %d}
train: {batch: %d, steps: 10000000, eval_every: 10000000, domain_from_epoch: 1}
`, data, p.method, p.network, p.projection, p.batch)
}

// writeFeatures writes both domains: vectors of noise around their class's centre.
func (p point) writeFeatures(folder string) error {
	f := p.features
	if f.rows == 0 {
		return nil
	}
	names := make([]string, f.classes)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	for i, domain := range []string{"source", "target"} {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		values, labels := make([]float32, f.rows*f.size), make([]int, f.rows)
		for row := range labels {
			labels[row] = row % f.classes
			for column := range f.size {
				centre := 0.0
				if labels[row]%f.size == column {
					centre = 3
				}
				values[row*f.size+column] = float32(centre + 2*random.Float64() - 1)
			}
		}
		set, err := datasets.NewFeatures(domain, values, datasets.KnownLabels(labels), names)
		if err != nil {
			return err
		}
		file, err := os.Create(filepath.Join(folder, domain+".npz"))
		if err != nil {
			return err
		}
		if err := errors.Join(npz.WriteFeatures(file, set), file.Close()); err != nil {
			return err
		}
	}
	return nil
}
