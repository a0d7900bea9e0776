package watch

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
	"strings"
	"time"

	"iwda/datasets/table"
	"iwda/inference/monitor"
	"iwda/internal/evenly"
	"iwda/internal/input"
	"iwda/weightest/shifttest"
)

// Reference is what is known of held-out rows: all that batches are compared with.
type Reference struct {
	Name    string            `json:"name"`
	SHA256  string            `json:"sha256"` // of its probabilities and labels
	Classes []string          `json:"classes"`
	Grouped bool              `json:"grouped,omitempty"`
	Limits  shifttest.Bins    `json:"limits"`
	Counts  monitor.Reference `json:"counts"`
}

// NewReference counts held-out rows of probabilities (row-major n×k) with labels. Where groups are not
// nil, a row of each group counts. Some rows of each class, evenly over them, say where bins end and
// count no more; see monitor.Pilot. A class without a row is an error.
func NewReference(name string, classes []string, probabilities []float64, labels, groups []int) (*Reference, error) {
	k, sum := len(classes), sha256.New()
	r := &Reference{Name: name, Classes: classes, Grouped: groups != nil}
	kept := newKept(groups != nil)
	for i, label := range labels {
		row := probabilities[i*k : (i+1)*k]
		digest(sum, row)
		digest(sum, []float64{float64(label)})
		group := 0
		if groups != nil {
			group = groups[i]
		}
		kept.add(group, i)
	}
	r.SHA256 = hex.EncodeToString(sum.Sum(nil))
	ofClass := make([][]int, k)
	for _, i := range kept.rows() {
		ofClass[labels[i]] = append(ofClass[labels[i]], i)
	}
	var pilots []float64
	counted := make([][]int, k)
	for class, rows := range ofClass {
		if len(rows) == 0 {
			return nil, fmt.Errorf("%s: class %q has no row, so it is not known how the classifier predicts it; add labelled rows of it, or leave the class out", name, classes[class])
		}
		pilot := monitor.Pilot(len(rows))
		for j, i := range rows {
			if (j+1)*pilot/len(rows) > j*pilot/len(rows) {
				pilots = append(pilots, probabilities[i*k:(i+1)*k]...)
			} else {
				counted[class] = append(counted[class], i)
			}
		}
	}
	r.Limits = shifttest.NewBins(k, pilots)
	for class, rows := range counted {
		r.Counts = append(r.Counts, make([]float64, k*shifttest.PerClass))
		for _, i := range rows {
			r.Counts[class][r.Limits.Of(probabilities[i*k:(i+1)*k])]++
		}
	}
	return r, nil
}

// digest adds numbers to a hash.
func digest(sum hash.Hash, row []float64) {
	var bytes [1024]byte
	for some := range slices.Chunk(row, len(bytes)/8) {
		for i, v := range some {
			binary.LittleEndian.PutUint64(bytes[8*i:], math.Float64bits(v))
		}
		sum.Write(bytes[:8*len(some)])
	}
}

// kept are the rows that count: all, or one of each group, each of the group's rows as likely.
type kept struct {
	grouped bool
	values  []int // of all rows, without groups
	best    map[int]candidate
}

type candidate struct {
	rank         uint64
	value, place int
}

func newKept(grouped bool) *kept { return &kept{grouped: grouped, best: map[int]candidate{}} }

// add takes a row. The ranks among which a group's least is kept follow from its number and the row's place in the
// group's order, so that the same rows are kept again.
func (k *kept) add(group, value int) {
	if !k.grouped {
		k.values = append(k.values, value)
		return
	}
	now, known := k.best[group]
	rank := evenly.Mix(uint64(group)<<32 + uint64(now.place)*0x9e3779b97f4a7c15)
	if !known || rank < now.rank {
		now.rank, now.value = rank, value
	}
	now.place++
	k.best[group] = now
}

// rows are the values of those that count, in rising order if they are of groups.
func (k *kept) rows() []int {
	if !k.grouped {
		return k.values
	}
	var values []int
	for _, c := range k.best {
		values = append(values, c.value)
	}
	slices.Sort(values)
	return values
}

// Rows reads the rows of a batch: take is told of the probabilities of each, in the order of the reference's
// classes, and of its time and its group; "" for none.
type Rows func(take func(time, group string, probabilities []float64) error) error

// Source is a batch to be counted.
type Source struct {
	Name string
	Rows Rows
	Time time.Time // unless TimeColumn says it
	// TimeColumn has the times of rows, of which the batch has the latest.
	TimeColumn string
}

// count reads a batch.
func (r *Reference) count(from Source) (Batch, error) {
	b := Batch{Name: from.Name, Time: from.Time.UTC(), Bins: make([]int, len(r.Classes)*shifttest.PerClass)}
	sum, kept := sha256.New(), newKept(r.Grouped)
	var groups table.Grouping
	latest := ""
	err := from.Rows(func(time, group string, probabilities []float64) error {
		digest(sum, probabilities)
		if bin := r.Limits.Of(probabilities); r.Grouped {
			kept.add(groups.Number(group), bin)
		} else {
			b.Bins[bin]++
			b.Rows++
		}
		if from.TimeColumn != "" {
			latest = later(latest, time)
		}
		return nil
	})
	if err != nil {
		return b, err
	}
	for _, bin := range kept.rows() {
		b.Bins[bin]++
		b.Rows++
	}
	if from.TimeColumn != "" {
		if b.Time, err = parseTime(latest); err != nil {
			return b, input.Wrong(fmt.Errorf("%s: column %q: %w", from.Name, from.TimeColumn, err))
		}
	}
	b.SHA256 = hex.EncodeToString(sum.Sum(nil))[:32]
	return b, nil
}

// later returns the later of two times, "" for none; those of a column are written alike.
func later(a, b string) string {
	if x, err := parseTime(a); err == nil {
		if y, err := parseTime(b); err == nil && x.After(y) {
			return a
		}
	}
	return b
}

// parseTime reads a date, a date with time, or seconds since 1970.
func parseTime(text string) (time.Time, error) {
	if t, is := table.ParseTime(text); is {
		return t, nil
	}
	text = strings.TrimSpace(text)
	var seconds float64
	if _, err := fmt.Sscanf(text, "%g", &seconds); err == nil && seconds > 1e8 && seconds < 1e11 && !strings.ContainsAny(text, "-:/") {
		return time.Unix(int64(seconds), 0).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("%.60q is no time; want 2026-11-27, 2026-11-27 03:00:00, 2026-11-27T03:00:00Z or seconds since 1970", text)
}
