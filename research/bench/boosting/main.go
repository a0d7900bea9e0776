// Command boosting grows boosted trees of a table for boosting_peer.py, and says how long that took.
//
//	boosting -columns d -classes k [-rounds r] [-folds f] [-threads t] train.bin labels.bin test.bin logits.bin
//
// The files are float32 (n×d), int32 (n), float32 (m×d), and what is written: float64 (m×k), after the
// logits (n×k) of held-out rows if there are folds. It prints {"fit": s, "fit_cpu": s, "predict": s,
// "predict_cpu": s}.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"time"

	"iwda/learners"
	"iwda/learners/boosting"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	s := boosting.Usual()
	var columns, classes, threads, repeats int
	flag.IntVar(&columns, "columns", 1, "d")
	flag.IntVar(&classes, "classes", 2, "k")
	flag.IntVar(&s.Rounds, "rounds", s.Rounds, "of trees, at most")
	flag.IntVar(&s.Folds, "folds", s.Folds, "of rows that are held out")
	flag.Float64Var(&s.L2, "l2", s.L2, "of leaves")
	flag.Float64Var(&s.Rate, "rate", s.Rate, "of each tree")
	flag.IntVar(&threads, "threads", 1, "")
	flag.IntVar(&repeats, "repeats", 1, "of predictions, of which the time is the mean")
	flag.Parse()
	rows := learners.Rows{Classes: classes}
	var labels []int32
	var test []float32
	if err := read(flag.Arg(0), &rows.Values); err != nil {
		return err
	}
	if err := read(flag.Arg(1), &labels); err != nil {
		return err
	}
	if err := read(flag.Arg(2), &test); err != nil {
		return err
	}
	for _, y := range labels {
		rows.Labels = append(rows.Labels, int(y))
	}
	began := now()
	fitted, err := s.Fit(context.Background(), rows, test, threads, rand.NewPCG(1, 2))
	if err != nil {
		return err
	}
	fit := now().since(began)
	began = now()
	var logits []float64
	for range repeats {
		logits = fitted.Model.Logits(test, columns, threads)
	}
	predict := now().since(began)
	var out bytes.Buffer
	if s.Folds > 0 {
		err = binary.Write(&out, binary.LittleEndian, fitted.Crossed.Logits)
	}
	if err == nil {
		err = binary.Write(&out, binary.LittleEndian, logits)
	}
	if err == nil {
		err = os.WriteFile(flag.Arg(3), out.Bytes(), 0o644)
	}
	if err != nil {
		return err
	}
	each := float64(repeats)
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"fit": fit.wall, "fit_cpu": fit.cpu, "predict": predict.wall / each, "predict_cpu": predict.cpu / each,
	})
}

func read[V float32 | int32](path string, values *[]V) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	*values = make([]V, len(data)/4)
	return binary.Read(bytes.NewReader(data), binary.LittleEndian, *values)
}

// moment is in seconds, of the clock and of the process's CPU.
type moment struct{ wall, cpu float64 }

var started = time.Now()

func now() moment {
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use) // of itself: cannot fail
	return moment{time.Since(started).Seconds(), float64(use.Utime.Nano()) / 1e9}
}

func (m moment) since(o moment) moment { return moment{m.wall - o.wall, m.cpu - o.cpu} }
