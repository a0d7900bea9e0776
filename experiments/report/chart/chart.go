// Package chart draws small figures as SVG that stands in a page. Their colours are classes of the
// page's style sheet, so that they follow its dark mode, and each means the same in every page: source,
// target, predicted and other. They come from the palette of Okabe and Ito
// (2008), which colour-blind readers tell apart. Every figure has a title and a description for readers who do not see it.
package chart

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Measures of a figure, in units of its view box.
const (
	width  = 400.0
	height = 290.0
	left   = 56.0
	right  = 20.0
	top    = 10.0
	bottom = 40.0
)

// svg is a figure that is being drawn.
type svg struct{ strings.Builder }

func (s *svg) add(format string, values ...any) { fmt.Fprintf(s, format, values...) }

func (s *svg) end() template.HTML {
	s.add("</svg>")
	return template.HTML(s.String())
}

func escape(text string) string { return template.HTMLEscapeString(text) }

// x and y are the places of shares of the axes.
func x(share float64) float64 { return left + share*(width-left-right) }
func y(share float64) float64 { return height - bottom - share*(height-top-bottom) }

// axes draws a frame with the names of both axes, and ticks at quarters of each, with the texts
// that label them; "" is for none.
func (s *svg) axes(nameX, nameY string, labelX, labelY func(share float64) string) {
	s.add(`<rect class="frame" x="%g" y="%g" width="%g" height="%g"/>`, left, top, width-left-right, height-top-bottom)
	for i := range 5 {
		share := float64(i) / 4
		if text := labelX(share); text != "" {
			anchor := [5]string{"start", "middle", "middle", "middle", "end"}[i] // so that no end is cut
			s.add(`<text class="%s" x="%.1f" y="%g">%s</text>`, anchor, x(share), height-bottom+14, escape(text))
		}
		if text := labelY(share); text != "" {
			s.add(`<text class="end" x="%g" y="%.1f">%s</text>`, left-5, y(share)+4, escape(text))
		}
	}
	s.add(`<text class="middle" x="%.1f" y="%g">%s</text>`, x(0.5), height-6, escape(nameX))
	s.add(`<text class="middle" transform="translate(11 %.1f) rotate(-90)">%s</text>`, y(0.5), escape(nameY))
}

// Key is the mark of a class of the style sheet, for a list of what marks stand for.
func Key(class string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 16 16" aria-hidden="true"><rect class="%s" x="1" y="4" width="14" height="8"/></svg>`, class))
}

// Point is a value over time with the ends of its interval.
type Point struct{ Value, Low, High float64 }

// Bands draws two lines of points over their numbers, the first with its band, on an axis from 0 to most,
// with a bound as a guide unless it is 0. Ends stand at the ends of the axis of time; label says what stands
// at shares of the other one, nil for percentages.
func Bands(title, description string, batches, pooled []Point, bound, most float64, ends [2]string, label func(share float64) string) template.HTML {
	if label == nil {
		label = func(share float64) string { return fmt.Sprintf("%.3g%%", 100*share*most) }
	}
	s := new(svg)
	s.add(`<svg class="chart" role="img" viewBox="0 0 %g %g"><title>%s</title><desc>%s</desc>`, width, height, escape(title), escape(description))
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

// Shares are those of a class in the source, as estimated in the target with the ends of its
// interval, and among the predictions.
type Shares struct {
	Source, Target float64
	Rejected       bool        // the target's is not to be believed
	Interval       *[2]float64 // nil if not known
	Predicted      float64
}

// Most is the largest of them.
func (s Shares) Most() float64 {
	most := max(s.Source, s.Target, s.Predicted)
	if s.Interval != nil {
		most = max(most, s.Interval[1])
	}
	return most
}

// Bars draws them as three bars on an axis up to most, of whatever width there is. It says
// nothing to those who do not see it: the numbers stand beside it.
func (s Shares) Bars(most float64) template.HTML {
	const thick, step = 8, 11
	b := new(svg)
	b.add(`<svg class="bars" aria-hidden="true" width="100%%" height="%d">`, 3*step)
	percent := func(share float64) string { return fmt.Sprintf("%.2f%%", 100*share/most) }
	for i, bar := range []struct {
		class string
		share float64
	}{{"source", s.Source}, {"target", s.Target}, {"predicted", s.Predicted}} {
		if bar.class == "target" && s.Rejected {
			bar.class = "rejected"
		}
		b.add(`<rect class="fill %s" x="0" y="%d" width="%s" height="%d"/>`, bar.class, i*step+1, percent(bar.share), thick)
	}
	if i := s.Interval; i != nil {
		const middle = step + 1 + thick/2
		b.add(`<line class="whisker" x1="%s" x2="%s" y1="%d" y2="%[3]d"/>`, percent(i[0]), percent(i[1]), middle)
		for _, end := range i {
			b.add(`<line class="whisker" x1="%s" x2="%[1]s" y1="%d" y2="%d"/>`, percent(end), middle-3, middle+3)
		}
	}
	return b.end()
}
