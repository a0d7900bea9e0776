package chart

import (
	"fmt"
	"html/template"
	"slices"
)

// Bin is what is known of the rows whose confidence lies in a part of the axis.
type Bin struct {
	Rows       int
	Confidence float64 // their mean
	Accuracy   float64 // the share of them that is right
	Low, High  float64 // the ends of its interval
}

// fewestRows are those below which the accuracy of a bin says next to nothing.
const fewestRows = 10

// Reliability draws accuracy against confidence before and after calibration, the latter with its
// intervals, and how many rows there are of each bin after it. Of bins with fewer than ten rows it
// shows their number alone.
func Reliability(title, description string, before, after []Bin) template.HTML {
	s := begin(title, description)
	s.axes("confidence", "accuracy", percent(1), percent(1))
	most := 1
	for _, b := range after {
		most = max(most, b.Rows)
	}
	for i, b := range after {
		n := float64(len(after))
		h := 0.25 * float64(b.Rows) / float64(most)
		s.add(`<rect class="count" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, x((float64(i)+0.05)/n), y(h), x(0.9/n)-x(0), y(0)-y(h))
	}
	s.add(`<line class="guide" x1="%g" y1="%g" x2="%g" y2="%g"/>`, x(0), y(0), x(1), y(1))
	few := func(b Bin) bool { return b.Rows < fewestRows }
	before, after = slices.DeleteFunc(slices.Clone(before), few), slices.DeleteFunc(slices.Clone(after), few)
	line := func(class string, bins []Bin) {
		points := ""
		for _, b := range bins {
			points += fmt.Sprintf("%.1f,%.1f ", x(b.Confidence), y(b.Accuracy))
		}
		s.add(`<polyline class="%s" points="%s"/>`, class, points)
	}
	line("before", before)
	line("after", after)
	for _, b := range before {
		s.add(`<rect class="before" x="%.1f" y="%.1f" width="6" height="6"/>`, x(b.Confidence)-3, y(b.Accuracy)-3)
	}
	for _, b := range after {
		s.add(`<line class="interval" x1="%.1f" x2="%.1[1]f" y1="%.1f" y2="%.1f"/>`, x(b.Confidence), y(b.Low), y(b.High))
		s.add(`<circle class="after" cx="%.1f" cy="%.1f" r="3.5"/>`, x(b.Confidence), y(b.Accuracy))
	}
	return s.end()
}

// Histogram draws shares of a domain's rows, source or target, by their confidence, from 0 to 1,
// on an axis up to most.
func Histogram(title, description, domain string, shares []float64, most float64) template.HTML {
	s := begin(title, description)
	n := float64(len(shares))
	for i, share := range shares {
		if share > 0 {
			s.add(`<rect class="fill %s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, domain, x(float64(i)/n)+0.5, y(share/most), x(1/n)-x(0)-1, y(0)-y(share/most))
		}
	}
	s.axes("confidence", "share of rows", percent(1), percent(most))
	return s.end()
}

// Top returns where an axis of shares ends: at what is round, and above all of several lists.
func Top(shares ...[]float64) float64 {
	most := slices.Max(slices.Concat(shares...))
	for _, round := range []float64{0.04, 0.08, 0.2, 0.4, 0.6, 0.8} {
		if most <= round {
			return round
		}
	}
	return 1
}
