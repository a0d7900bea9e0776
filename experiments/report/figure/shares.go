package figure

import (
	"image/color"
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
	f := Figure{Title: title, Note: note, panelHeight: panelHeight}
	panel := newPanel("class", "share")
	panel.Add(trueBars(s.Source))
	f.legend.add("source", bar{})
	highest := math.Max(slices.Max(s.Source), slices.Max(s.Target))
	point := draw.GlyphStyle{Color: sharesColor, Radius: vg.Points(2.4), Shape: draw.CircleGlyph{}}
	line := &plotter.Line{LineStyle: draw.LineStyle{Color: sharesColor, Width: vg.Points(1.8)}}
	target := []plot.Thumbnailer{&plotter.Scatter{GlyphStyle: point}}
	if s.Intervals != nil {
		for class, joint := range s.Intervals.Joint {
			each := s.Intervals.Each[class]
			panel.Add(vertical(class, joint, 0.6, sharesColor), vertical(class, each, 1.8, sharesColor))
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
	setAxis(&panel.Y, 0, highest, 6, 0, 0, 1)
	panel.Y.Min = 0
	panel.X.Min, panel.X.Max = -0.5, float64(len(s.Classes))-0.5
	panel.X.Tick.Marker = classTicks(s.Classes)
	f.panels = [][]*plot.Plot{{panel}}
	return f
}

// vertical is the line of a class's interval.
func vertical(class int, i intervals.Interval, width float64, of color.Color) *plotter.Line {
	x := float64(class)
	return &plotter.Line{
		XYs:       plotter.XYs{{X: x, Y: i.Low}, {X: x, Y: i.High}},
		LineStyle: draw.LineStyle{Color: of, Width: vg.Points(width)},
	}
}

// namedClasses is about the largest number of classes whose names have room on an axis.
const namedClasses = 20

// classTicks names the classes, or every second, third, … of many.
func classTicks(classes []string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	every := (len(classes) + namedClasses - 1) / namedClasses
	for class := 0; class < len(classes); class += every {
		ticks = append(ticks, plot.Tick{Value: float64(class), Label: classes[class]})
	}
	return ticks
}
