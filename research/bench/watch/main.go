// Command watch simulates years of nightly batches and counts how often, and how soon, the alarms of
// package monitor sound, beside nightly tests and CBPE's band. A line of watch.jsonl is ten years of a
// setting; lines that are there are not computed again, so that the same command goes on after it was
// stopped. It writes the tables to standard output.
//
//	go run ./research/bench/watch [-years 1000] [-file research/bench/watch/watch.jsonl] [-only TEXT]
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/inference/monitor"
	"iwda/weightest/shifttest"
)

const (
	nights = 365
	perDay = 500 // rows
	change = 29  // the first night that is changed, from 0
	part   = 10  // years of a line
)

// setting is what the years of a line have in common.
type setting struct {
	Scenario   string  // "nothing", "shares", "share", "accuracy"
	Points     float64 // by which a share or the accuracy changes from night 30 on
	Classes    int
	HeldOut    int
	Calibrated bool
}

// settings are all, null scenarios first.
func settings() (all []setting) {
	for _, k := range []int{2, 3, 10} {
		for _, n := range []int{300, 1000, 10000} {
			for _, calibrated := range []bool{true, false} {
				all = append(all, setting{"nothing", 0, k, n, calibrated}, setting{"shares", 0, k, n, calibrated})
			}
		}
	}
	for _, k := range []int{2, 3, 10} {
		for _, n := range []int{300, 1000, 10000} {
			for _, points := range []float64{0.02, 0.05, 0.10} {
				all = append(all, setting{"share", points, k, n, true}, setting{"accuracy", points, k, n, true})
			}
			all = append(all, setting{"accuracy", 0.25, k, n, true})
		}
	}
	return all
}

// delays reports whether a setting has fewer years, as it counts nights and not rare events.
func (s setting) delays() bool { return s.Points > 0 }

// world is where rows are drawn from: for each class, rows of probabilities.
type world struct {
	k     int
	rows  [][]float64 // of each class, row-major
	noisy [][]float64 // of the changed classes
	prior []float64
}

const poolRows = 8000

// newWorld generates rows of k normal classes of unequal distance, and the probabilities of a classifier
// that knows them, or one whose logits are twice too large and biased. accuracy falls by so much in the
// changed rows, which have noise that the classifier does not know.
func newWorld(s setting) world {
	k := s.Classes
	random := rand.New(rand.NewPCG(uint64(k), 7))
	w := world{k: k}
	for class := range k {
		w.prior = append(w.prior, 1+0.5*float64(class)/float64(k))
	}
	floats.Scale(1/floats.Sum(w.prior), w.prior)
	distance := map[int]float64{2: 1.8, 3: 2.1, 10: 2.9}[k]
	length := func(class int) float64 { return distance * (0.85 + 0.3*float64(class)/float64(k-1)) }
	x, noise := make([][]float64, k), make([][]float64, k)
	for class := range k {
		for range poolRows * k {
			x[class], noise[class] = append(x[class], random.NormFloat64()), append(noise[class], random.NormFloat64())
		}
	}
	probabilities := func(class int, sigma float64) []float64 {
		rows := make([]float64, len(x[class]))
		for i := range rows {
			y := i % k
			value := x[class][i] + sigma*noise[class][i]
			if y == class {
				value += length(y)
			}
			z := length(y)*value - length(y)*length(y)/2 + math.Log(w.prior[y])
			if !s.Calibrated {
				z = 2*z + 0.5*float64(y%2)
			}
			rows[i] = z
		}
		for row := range slices.Chunk(rows, k) {
			total := floats.LogSumExp(row)
			for y := range row {
				row[y] = math.Exp(row[y] - total)
			}
		}
		return rows
	}
	accuracy := func(rows [][]float64) (sum float64) {
		for class, of := range rows {
			right := 0.0
			for row := range slices.Chunk(of, k) {
				if floats.MaxIdx(row) == class {
					right++
				}
			}
			sum += w.prior[class] * right / poolRows
		}
		return sum
	}
	all := func(sigma float64) (rows [][]float64) {
		for class := range k {
			rows = append(rows, probabilities(class, sigma))
		}
		return rows
	}
	w.rows = all(0)
	w.noisy = w.rows
	if s.Scenario == "accuracy" {
		low, high, before := 0.0, 4.0, accuracy(w.rows)
		for range 12 {
			if w.noisy = all((low + high) / 2); before-accuracy(w.noisy) > s.Points {
				high = (low + high) / 2
			} else {
				low = (low + high) / 2
			}
		}
	}
	return w
}

// truth is what a year's bins are about.
type truth struct {
	theta                 [][]float64 // k×bins
	confidence, deviation [][]float64 // of the rows of each class and bin
}

func (w world) truth(bins shifttest.Bins, rows [][]float64) truth {
	t := truth{}
	for class := range w.k {
		n, c, d := make([]float64, w.k*shifttest.PerClass), make([]float64, w.k*shifttest.PerClass), make([]float64, w.k*shifttest.PerClass)
		for row := range slices.Chunk(rows[class], w.k) {
			b, p := bins.Of(row), floats.Max(row)
			n[b]++
			c[b] += p
			d[b] += p * p
		}
		for b := range n {
			if n[b] > 0 {
				c[b] /= n[b]
				d[b] = math.Sqrt(max(0, d[b]/n[b]-c[b]*c[b]))
			}
			n[b] /= poolRows
		}
		t.theta, t.confidence, t.deviation = append(t.theta, n), append(t.confidence, c), append(t.deviation, d)
	}
	return t
}

// accuracy under shares.
func (t truth) accuracy(q []float64) (sum float64) {
	for class, share := range q {
		for b, p := range t.theta[class] {
			if b/shifttest.PerClass == class {
				sum += share * p
			}
		}
	}
	return sum
}

// multinomial draws n rows.
func multinomial(random *rand.Rand, n int, p []float64) []float64 {
	counts, left := make([]float64, len(p)), 1.0
	for b, share := range p {
		if n == 0 {
			break
		}
		drawn := n
		if b < len(p)-1 && share < left {
			drawn = int(distuv.Binomial{N: float64(n), P: max(0, share/left), Src: random}.Rand())
		}
		counts[b] = float64(drawn)
		n, left = n-drawn, left-share
	}
	return counts
}

// outcome is the first night, from 0, on which each alarm sounded in each year; nights for never.
type outcome struct {
	setting
	First int              // year
	When  map[string][]int // of each alarm and comparator, a year each
}

// years simulates years from first on.
func years(s setting, w world, first int) outcome {
	o := outcome{setting: s, First: first, When: map[string][]int{}}
	for year := first; year < first+part; year++ {
		for name, night := range w.year(s, uint64(year)) {
			o.When[name] = append(o.When[name], night)
		}
	}
	return o
}

func (w world) year(s setting, year uint64) map[string]int {
	k := w.k
	random := rand.New(rand.NewPCG(year, uint64(s.HeldOut)<<8|uint64(k)))
	// The held-out rows: some of each class say where the bins are, the others are counted.
	var limits []float64
	held := make([][][]float64, k)
	for class, n := range multinomial(random, s.HeldOut, w.prior) {
		for range max(2, int(n)) {
			row := w.rows[class][random.IntN(poolRows)*k:][:k]
			held[class] = append(held[class], row)
		}
		for _, row := range held[class][:monitor.Pilot(len(held[class]))] {
			limits = append(limits, row...)
		}
	}
	bins := shifttest.NewBins(k, limits)
	reference, confidence := monitor.Reference{}, []float64{}
	for class := range k {
		counts := make([]float64, k*shifttest.PerClass)
		for i, row := range held[class] {
			if i >= monitor.Pilot(len(held[class])) {
				counts[bins.Of(row)]++
			}
			confidence = append(confidence, floats.Max(row))
		}
		reference = append(reference, counts)
	}
	before, after := w.truth(bins, w.rows), w.truth(bins, w.noisy)
	shares := w.wander(s, random)
	least := 1.0
	for _, q := range shares {
		least = min(least, before.accuracy(q))
	}
	bound := w.prior[0]
	if s.Scenario == "shares" {
		bound = 1.3 * w.prior[0]
	}
	alarms := []monitor.Alarm{{Kind: monitor.MoreChanged}, {Kind: monitor.ShareAbove, Bound: bound}, {Kind: monitor.AccuracyBelow, Bound: least}, {Kind: monitor.SharesChanged}}
	names := []string{"more changed", "share", "accuracy", "shares changed"}
	if s.delays() {
		alarms[2].Bound = before.accuracy(w.prior)
	}
	m, err := monitor.New(reference, alarms, 0.05)
	if err != nil {
		panic(err)
	}
	when := map[string]int{}
	sound := func(name string, night int, is bool) {
		if _, known := when[name]; !known {
			when[name] = nights
		}
		if is && when[name] == nights {
			when[name] = night
		}
	}
	mean := floats.Sum(confidence) / float64(len(confidence))
	deviation := 0.0
	for _, p := range confidence {
		deviation += (p - mean) * (p - mean)
	}
	deviation = math.Sqrt(deviation / float64(len(confidence)) / perDay)
	logs, earlier := m.Begin(), [][]float64(nil)
	for night, q := range shares {
		t := before
		if s.Scenario == "accuracy" && night >= change {
			t = after
		}
		counts, sum := make([]float64, k*shifttest.PerClass), 0.0
		for class, n := range multinomial(random, perDay, q) {
			for b, n := range multinomial(random, int(n), t.theta[class]) {
				counts[b] += n
				sum += n*t.confidence[class][b] + math.Sqrt(n)*t.deviation[class][b]*random.NormFloat64()
			}
		}
		logs = m.Next(logs, earlier, counts)
		earlier = append(earlier, counts)
		for i, name := range names {
			if s.Scenario == "shares" && name == "shares changed" {
				continue
			}
			sound(name, night, monitor.Evidence(logs[i]) >= m.Threshold())
		}
		sound("CBPE", night, math.Abs(sum/perDay-mean) > 3*deviation)
		e, err := reference.Of(counts)
		if err != nil {
			panic(err)
		}
		const deviations = 0.6826894921370859 // the level of an interval of one deviation on each side
		share, accuracy := e.Shares(deviations)[0], e.Accuracy(deviations)
		above := distuv.UnitNormal.Survival((share.Value - bound) / (share.High - share.Value))
		below := distuv.UnitNormal.CDF((accuracy.Value - alarms[2].Bound) / (accuracy.Value - accuracy.Low))
		sound("share, p < 0.05", night, above < 0.05)
		sound("accuracy, p < 0.05", night, below < 0.05)
		sound("share, Bonferroni", night, above < 0.05/nights)
		sound("accuracy, Bonferroni", night, below < 0.05/nights)
		if math.Abs(share.Value-q[0]) <= 1.96*(share.High-share.Value) {
			when[inInterval]++
		}
		_, p := e.Unexplained(counts)
		sound("more, p < 0.05", night, p < 0.05)
		sound("more, Bonferroni", night, p < 0.05/nights)
	}
	return when
}

// wander returns the class shares of each night. Those of "shares" are the reference's times factors that
// wander by a third, the first class's below 1.3 times what it was.
func (w world) wander(s setting, random *rand.Rand) (all [][]float64) {
	logs := make([]float64, w.k)
	for class := range logs {
		logs[class] = 0.5 * random.NormFloat64()
	}
	for night := range nights {
		q := slices.Clone(w.prior)
		switch {
		case s.Scenario == "shares":
			for class := range q {
				logs[class] = 0.95*logs[class] + 0.5*math.Sqrt(1-0.95*0.95)*random.NormFloat64()
				q[class] *= math.Exp(logs[class])
			}
			floats.Scale(1/floats.Sum(q), q)
			if most := 1.3 * w.prior[0]; q[0] > most {
				floats.Scale((1-most)/(1-q[0]), q[1:])
				q[0] = most
			}
		case s.Scenario == "share" && night >= change:
			floats.Scale((1-q[0]-s.Points)/(1-q[0]), q[1:])
			q[0] += s.Points
		}
		all = append(all, q)
	}
	return all
}

func main() {
	most := flag.Int("years", 1000, "years of each setting; delays have a tenth")
	path := flag.String("file", "research/bench/watch/watch.jsonl", "results")
	only := flag.String("only", "", "settings whose name contains this")
	flag.Parse()
	found, err := read(*path)
	if err == nil {
		err = simulate(*path, found, *most, *only)
	}
	if err == nil {
		found, err = read(*path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	tables(found)
}

func read(path string) (all []outcome, err error) {
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var o outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, o)
	}
	return all, lines.Err()
}

func (s setting) String() string {
	return fmt.Sprintf("%s %g k=%d n=%d calibrated=%v", s.Scenario, s.Points, s.Classes, s.HeldOut, s.Calibrated)
}

// simulate appends what is missing, the first years of all settings first.
func simulate(path string, found []outcome, most int, only string) error {
	done := map[string]bool{}
	for _, o := range found {
		done[fmt.Sprint(o.setting, o.First)] = true
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	worlds := map[string]world{}
	for first := 0; first < most; first += part {
		for _, s := range settings() {
			if done[fmt.Sprint(s, first)] || !strings.Contains(s.String(), only) || s.delays() && first >= max(part, most/10) {
				continue
			}
			w, known := worlds[s.String()]
			if !known {
				w = newWorld(s)
				if len(worlds) < 20 {
					worlds[s.String()] = w
				}
			}
			line, err := json.Marshal(years(s, w, first))
			if err != nil {
				return err
			}
			if _, err := file.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}

// tables prints in Markdown how many years had an alarm, and after how many nights of a change half of them had it.
func tables(found []outcome) {
	when := map[setting]map[string][]int{}
	for _, o := range found {
		if when[o.setting] == nil {
			when[o.setting] = map[string][]int{}
		}
		for name, nights := range o.When {
			when[o.setting][name] = append(when[o.setting][name], nights...)
		}
	}
	for _, t := range []struct {
		title   string
		of      func(s setting) bool
		columns []string
		cell    func(nights []int) string
	}{
		{"Nothing changes: years with an alarm", func(s setting) bool { return s.Scenario == "nothing" },
			[]string{"more changed", "share", "accuracy", "shares changed", "more, p < 0.05", "more, Bonferroni", "share, p < 0.05", "share, Bonferroni", "CBPE", inInterval}, ever},
		{"Shares wander, within the bounds: years with an alarm", func(s setting) bool { return s.Scenario == "shares" },
			[]string{"more changed", "share", "accuracy", "more, p < 0.05", "more, Bonferroni", "share, p < 0.05", "share, Bonferroni", "accuracy, Bonferroni", "CBPE", inInterval}, ever},
		{"A share rises on night 30: nights until half of the years have the alarm (years with one before)", func(s setting) bool { return s.Scenario == "share" },
			[]string{"share", "shares changed", "share, p < 0.05", "share, Bonferroni", "CBPE"}, delay},
		{"Accuracy falls on night 30, by noise: nights until half of the years have the alarm (years with one before)", func(s setting) bool { return s.Scenario == "accuracy" },
			[]string{"more changed", "shares changed", "more, p < 0.05", "more, Bonferroni", "CBPE"}, delay},
	} {
		fmt.Printf("### %s\n\n| classes | held-out rows | calibrated | points | years | %s |\n| ---: | ---: | --- | ---: | ---: |%s\n", t.title, strings.Join(t.columns, " | "), strings.Repeat(" ---: |", len(t.columns)))
		for _, s := range settings() {
			if !t.of(s) || when[s] == nil {
				continue
			}
			fmt.Printf("| %d | %d | %s | %g | %d |", s.Classes, s.HeldOut, map[bool]string{true: "yes", false: "no"}[s.Calibrated], 100*s.Points, len(when[s]["CBPE"]))
			for _, name := range t.columns {
				if name == inInterval {
					sum := 0
					for _, covered := range when[s][name] {
						sum += covered
					}
					fmt.Printf(" %.1f%% |", 100*float64(sum)/float64(nights*max(1, len(when[s][name]))))
					continue
				}
				fmt.Printf(" %s |", t.cell(when[s][name]))
			}
			fmt.Println()
		}
		fmt.Println()
	}
}

// inInterval counts nights whose share the 95% interval held.
const inInterval = "nights in the interval"

// ever is the share of years with an alarm.
func ever(first []int) string {
	sounded := 0
	for _, night := range first {
		if night < nights {
			sounded++
		}
	}
	return fmt.Sprintf("%.3g%%", 100*float64(sounded)/float64(len(first)))
}

// delay is the median of the nights from the change to the alarm, over years without one before.
func delay(first []int) string {
	var delays []int
	for _, night := range first {
		if night >= change {
			delays = append(delays, night-change+1)
		}
	}
	early := fmt.Sprintf(" (%.3g%%)", 100*float64(len(first)-len(delays))/float64(len(first)))
	if len(delays) == 0 {
		return "–" + early
	}
	slices.Sort(delays)
	if median := delays[len(delays)/2]; median <= nights-change {
		return fmt.Sprint(median) + early
	}
	return "never" + early
}
