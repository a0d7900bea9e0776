// Package chart draws small figures as SVG that stands in a page. Their colours are classes of the
// page's style sheet, so that they follow its dark mode, and each means the same in every page: source,
// target, predicted and other. They come from the palette of Okabe and Ito
// (2008), which colour-blind readers tell apart. Every figure has a title and a description for readers who do not see it.
package chart

import (
	"fmt"
	"html/template"
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

func begin(title, description string) *svg {
	s := new(svg)
	s.add(`<svg class="chart" role="img" viewBox="0 0 %g %g"><title>%s</title><desc>%s</desc>`, width, height, escape(title), escape(description))
	return s
}

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

func percent(of float64) func(share float64) string {
	return func(share float64) string { return fmt.Sprintf("%.3g%%", 100*share*of) }
}

// Key is the mark of a class of the style sheet, for a list of what marks stand for.
func Key(class string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 16 16" aria-hidden="true"><rect class="%s" x="1" y="4" width="14" height="8"/></svg>`, class))
}
