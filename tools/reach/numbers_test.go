//go:build reach

// Package reach tests that iwrun runs wherever it is copied, as far as this machine can tell by itself: `make test-reach` asks
// more.
package reach

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"iwda/adaptation/labelshift"
	"iwda/datasets/table"
	"iwda/inference/classshares"
	"iwda/internal/evenly"
	"iwda/internal/testfiles"
	"iwda/learners"
	"iwda/learners/boosting"
	"iwda/learners/forest"
	"iwda/learners/perceptron"
	"iwda/learners/regression"
	"iwda/weightest/intervals"
)

// number is one of those that must be the same wherever they are computed.
type number struct {
	name  string
	value float64
}

// numbers are what class shares, label shift of files in the working directory, and each learner of tables come to, with the
// seconds that the fastest of some bootstraps took.
func numbers() (all []number, seconds float64, err error) {
	add := func(name string, values ...float64) {
		for i, v := range values {
			all = append(all, number{fmt.Sprintf("%s %d", name, i), v})
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	values, labels := draw(random, 1000, []float64{0.6, 0.3, 0.1})
	target, _ := draw(random, 2000, []float64{0.2, 0.3, 0.5})
	rows := learners.Rows{Values: values, Labels: labels, Classes: classes}

	found, err := classshares.Fit(classes, classshares.Rows{Values: values}, labels, classshares.Rows{Values: target}, classshares.Settings{})
	if err != nil {
		return nil, 0, err
	}
	var sure intervals.Uncertainty
	seconds = math.Inf(1)
	for range 20 { // the fastest, when all is compiled and nothing came between
		start := time.Now()
		if sure, err = found.Bootstrap(intervals.BootstrapSettings{Seed: 1, Replicas: 100}); err != nil {
			return nil, 0, err
		}
		seconds = min(seconds, time.Since(start).Seconds())
	}
	add("share", found.Target()...)
	for class, of := range sure.Shares.Each {
		add(fmt.Sprint("interval ", class), of.Low, of.High)
	}

	source, err := labelshift.ReadSource(sourceName, table.Options{})
	if err != nil {
		return nil, 0, err
	}
	of, err := labelshift.ReadTarget(targetName, table.Options{}, source)
	if err != nil {
		return nil, 0, err
	}
	analysis, err := labelshift.Analyse(source, of, labelshift.Default())
	if err != nil {
		return nil, 0, err
	}
	add("weight", analysis.Estimate.Weights...)
	add("test", analysis.Tests.ChiSquared.P, analysis.Tests.KolmogorovSmirnov.P, analysis.Tests.LabelShift.P)
	for class, of := range analysis.Uncertainty.Shares.Each {
		add(fmt.Sprint("interval of a file ", class), of.Low, of.High)
	}

	for name, learn := range map[string]learners.Learner{
		"linear": regression.Fit, "forest": forest.Fit, "boosting": boosting.Usual().Fit, "perceptron": perceptron.Usual().Fit,
	} {
		fitted, err := learn(context.Background(), rows.Part(evenly.All(300)), target[:300*classes], 1, rand.NewPCG(3, 4))
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", name, err)
		}
		add(name, fitted.Model.Logits(target[:300*classes], classes, 1)...)
		add(name+", crossed", fitted.Crossed.InTurn(classes)...)
	}
	return all, seconds, nil
}

const (
	classes     = 3
	sourceName  = "source.csv"
	targetName  = "target.csv"
	numbersName = "numbers.txt"
)

// draw returns rows of a value a class, which may be logits, and their classes.
func draw(random *rand.Rand, n int, shares []float64) (values []float32, labels []int) {
	for range n {
		u, class := random.Float64(), 0
		for class < classes-1 && u >= shares[class] {
			u -= shares[class]
			class++
		}
		labels = append(labels, class)
		for c := range classes {
			v := random.NormFloat64()
			if c == class {
				v += 2
			}
			values = append(values, float32(v))
		}
	}
	return values, labels
}

// writeDomains writes the files of predictions that [numbers] reads.
func writeDomains(t *testing.T, folder string) {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	for name, shares := range map[string][]float64{sourceName: {0.6, 0.3, 0.1}, targetName: {0.2, 0.3, 0.5}} {
		var text strings.Builder
		text.WriteString(map[string]string{sourceName: "label,logit_a,logit_b,logit_c\n", targetName: "logit_a,logit_b,logit_c\n"}[name])
		values, labels := draw(random, 300, shares)
		for i, label := range labels {
			if name == sourceName {
				fmt.Fprintf(&text, "%c,", 'a'+label)
			}
			fmt.Fprintf(&text, "%v,%v,%v\n", values[classes*i], values[classes*i+1], values[classes*i+2])
		}
		testfiles.Write(t, folder+"/"+name, text.String())
	}
}

// TestMain writes the numbers in WebAssembly, for the test of another system that started this.
func TestMain(m *testing.M) {
	if runtime.GOARCH != "wasm" {
		os.Exit(m.Run())
	}
	all, seconds, err := numbers()
	text := fmt.Appendln(nil, seconds)
	for _, n := range all {
		text = fmt.Appendf(text, "%s\t%v\n", n.name, n.value)
	}
	if err = cmp.Or(err, os.WriteFile(numbersName, text, 0o666)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
