package chart

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Point is a value over time with the ends of its interval.
type Point struct{ Value, Low, High float64 }

// Bands draws two lines of points over their numbers, the first with its band, on an axis from 0 to most,
// with a bound as a guide unless it is 0. Ends stand at the ends of the axis of time; label says what stands
// at shares of the other one, nil for percentages.
func Bands(title, description string, batches, pooled []Point, bound, most float64, ends [2]string, label func(share float64) string) template.HTML {
	if label == nil {
		label = percent(most)
	}
	s := begin(title, description)
	at := func(i, n int) float64 { return x((float64(i) + 0.5) / float64(n)) }
	height := func(v float64) float64 { return y(max(0, min(1, v/most))) }
	line := func(class string, points []Point) {
		var text strings.Builder
		for i, p := range points {
			fmt.Fprintf(&text, "%.1f,%.1f ", at(i, len(points)), height(p.Value))
		}
		s.add(`<polyline class="%s" points="%s"/>`, class, text.String())
	}
	for i, p := range batches {
		s.add(`<line class="band" x1="%.1f" x2="%.1[1]f" y1="%.1f" y2="%.1f"/>`, at(i, len(batches)), height(p.Low), height(p.High))
		s.add(`<circle class="batch" cx="%.1f" cy="%.1f" r="%.1f"/>`, at(i, len(batches)), height(p.Value), max(1, min(3.5, 120/float64(len(batches)))))
	}
	line("before", pooled)
	if bound > 0 {
		s.add(`<line class="guide" x1="%g" x2="%g" y1="%.1f" y2="%.1[3]f"/>`, x(0), x(1), height(bound))
	}
	s.axes("batches", "", func(share float64) string {
		switch share {
		case 0:
			return ends[0]
		case 1:
			return ends[1]
		}
		return ""
	}, label)
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
