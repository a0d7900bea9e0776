package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"iwda/adaptation/labels"
	"iwda/datasets"
)

// drawnRow is a row with its stratum of confidence, as "0.8-0.95", and that stratum's share of all rows.
type drawnRow struct {
	labels.Row
	Stratum string
	Share   float64
}

// draw draws rows in strata of confidence, more of those of which some are likely to be wrong, as iwrun did up to
// version 0.4.
type draw struct {
	rows   int
	random *rand.Rand
	strata []part
}

// part is a stratum.
type part struct {
	from, below float64    // its confidences; the last one's are up to 1
	rows        int        // of all
	deviation   float64    // summed, of correctness, as confidences have it
	least       []keyedRow // with those of the least keys
}

func (p part) String() string { return fmt.Sprintf("%g-%g", p.from, min(1, p.below)) }

// bounds are those of the strata's confidences.
var bounds = []float64{0, 0.5, 0.8, 0.95, 0.99, math.Inf(1)}

func newDraw(rows int, seed int64) *draw {
	d := &draw{rows: rows, random: rand.New(datasets.Stream(seed, "rows to label"))}
	for i, from := range bounds[:len(bounds)-1] {
		d.strata = append(d.strata, part{from: from, below: bounds[i+1]})
	}
	return d
}

// add tells of a row. Each has a random key, whatever is predicted, and those of the least keys are
// drawn.
func (d *draw) add(id, class string, confidence float64) {
	key := d.random.Uint64()
	p := &d.strata[slices.IndexFunc(d.strata, func(p part) bool { return confidence < p.below })]
	p.rows++
	f := min(1, max(0, confidence))
	p.deviation += math.Sqrt(f * (1 - f))
	p.least = append(p.least, keyedRow{key, drawnRow{Row: labels.Row{ID: id, Class: class, Confidence: confidence}}})
	if most := max(d.rows, fewestOfStratum); len(p.least) >= 2*most {
		slices.SortFunc(p.least, byKey)
		p.least = p.least[:most]
	}
}

// drawn returns the drawn rows in the order in which they are to be labelled: the first of them are
// drawn at random too.
func (d *draw) drawn() (rows []drawnRow) {
	d.merge()
	total := 0
	for _, p := range d.strata {
		total += p.rows
	}
	type placed struct {
		place float64 // among the rows of its stratum, from 0 to 1
		drawnRow
	}
	var all []placed
	for i, n := range d.allocation(total) {
		p := &d.strata[i]
		slices.SortFunc(p.least, byKey)
		for j, k := range p.least[:n] {
			k.Stratum, k.Share = p.String(), float64(p.rows)/float64(total)
			all = append(all, placed{(float64(j) + 0.5) / float64(n), k.drawnRow})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	for _, p := range all {
		rows = append(rows, p.drawnRow)
	}
	return rows
}

// merge joins strata that have too few rows with those beside them.
func (d *draw) merge() {
	d.strata = slices.DeleteFunc(d.strata, func(p part) bool { return p.rows == 0 })
	for i := 0; i < len(d.strata) && len(d.strata) > 1; {
		p := d.strata[i]
		if p.rows >= fewestOfStratum {
			i++
			continue
		}
		other := &d.strata[max(0, i-1)]
		if i == 0 {
			other = &d.strata[1]
		}
		other.from, other.below = min(other.from, p.from), max(other.below, p.below)
		other.rows, other.deviation, other.least = other.rows+p.rows, other.deviation+p.deviation, append(other.least, p.least...)
		d.strata = slices.Delete(d.strata, i, i+1)
		i = 0
	}
}

// fewestOfStratum is the number of drawn rows, and of their labels, without which nothing is known of a
// stratum's variance.
const fewestOfStratum = 2

// allocation returns how many rows each stratum gives, all of them together as many as are asked for, or
// two of each if that is more. Half of them are shared out by the strata's sizes, half by these times
// the deviation of correctness (Neyman 1934) that confidences promise, which they need not keep.
func (d *draw) allocation(total int) []int {
	deviation := 0.0
	for _, p := range d.strata {
		deviation += p.deviation
	}
	given, wanted, left := make([]int, len(d.strata)), make([]float64, len(d.strata)), d.rows
	for i, p := range d.strata {
		share := float64(p.rows) / float64(max(1, total))
		if deviation > 0 {
			share = (share + p.deviation/deviation) / 2
		}
		wanted[i] = share * float64(d.rows)
		given[i] = min(fewestOfStratum, p.rows)
		left -= given[i]
	}
	for ; left > 0; left-- { // one after the other, so that what a stratum lacks goes to the others
		next := -1
		for i, p := range d.strata {
			if given[i] < p.rows && (next < 0 || wanted[i]-float64(given[i]) > wanted[next]-float64(given[next])) {
				next = i
			}
		}
		if next < 0 {
			break // all rows are drawn
		}
		given[next]++
	}
	return given
}

type keyedRow struct {
	key uint64
	drawnRow
}

func byKey(a, b keyedRow) int { return cmp.Compare(a.key, b.key) }
