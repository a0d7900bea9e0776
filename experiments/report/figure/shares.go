package figure

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"iwda/weightest/intervals"
)

// Shares are class shares of two domains, each of length k.
type Shares struct {
	Classes        []string
	Source, Target []float64
	// Intervals are those of the target; nil where there are none.
	Intervals *intervals.Intervals
}

// sharesColor is that of the target's shares.
var sharesColor = hues[1]

// ClassShares draws the source's shares as bars and the target's as points, with a thick
// line from end to end of each class's interval and a thin one for the intervals that hold
// all classes at once.
func ClassShares(title, note string, s Shares) Figure {
	f := Figure{Title: title, Note: note}
	panel := newPanel("class", "share")
	panel.Add(trueBars(s.Source))
	f.legend.add("source", bar{})
	highest := math.Max(slices.Max(s.Source), slices.Max(s.Target))
	point := draw.GlyphStyle{Color: sharesColor, Radius: vg.Points(2.4), Shape: draw.CircleGlyph{}}
	line := &plotter.Line{LineStyle: draw.LineStyle{Color: sharesColor, Width: vg.Points(1.8)}}
	target := []plot.Thumbnailer{&plotter.Scatter{GlyphStyle: point}}
	if s.Intervals != nil {
		for class, joint := range s.Intervals.Joint {
			x, each := float64(class), s.Intervals.Each[class]
			panel.Add(vertical(x, joint.Low, joint.High, 0.6, sharesColor), vertical(x, each.Low, each.High, 1.8, sharesColor))
			highest = math.Max(highest, joint.High)
		}
		target = append(target, line)
	}
	var points plotter.XYs
	for class, share := range s.Target {
		points = append(points, plotter.XY{X: float64(class), Y: share})
	}
	panel.Add(&plotter.Scatter{XYs: points, GlyphStyle: point})
	f.legend.add("target, estimated", target...)
	setClassAxes(panel, s.Classes, highest, 1)
	f.panels = [][]*plot.Plot{{panel}}
	return f
}
