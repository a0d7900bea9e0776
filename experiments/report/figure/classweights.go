package figure

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"iwda/experiments/report/summary"
)

// spread is the share of a class's place that the methods' glyphs take.
const spread = 0.72

// classWeights draws the class weights that every method ended with beside the true
// ones, where they are known, which are bars: the mean over seeds, and a line from the lowest to the
// highest.
func classWeights(s summary.Selection, variant, task string) Figure {
	methods := slices.DeleteFunc(slices.Clone(s.Methods), func(method string) bool { return len(s.Runs(variant, task, method)) == 0 })
	if len(methods) == 0 {
		return Figure{}
	}
	first := s.Runs(variant, task, methods[0])[0].Result
	truth, classes := first.TrueWeights, first.Classes
	f := Figure{Title: s.Title(variant + ", " + task), Note: "weights at the end of the run: mean over seeds; line: lowest to highest"}
	panel := newPanel("class", "class weight")
	highest := 0.0
	if len(truth) > 0 {
		bars := &plotter.Histogram{FillColor: color.Gray{Y: 0xDD}, LineStyle: draw.LineStyle{Color: color.Black, Width: vg.Points(0.8)}}
		for class, weight := range truth {
			bars.Bins = append(bars.Bins, plotter.HistogramBin{Min: float64(class) - 0.45, Max: float64(class) + 0.45, Weight: weight})
		}
		panel.Add(bars)
		f.legend.add("true weights", bars)
		highest = slices.Max(truth)
	}
	for rank, method := range methods {
		style := styleOf(method)
		var points plotter.XYs
		for c := range classes {
			var values []float64
			for _, run := range s.Runs(variant, task, method) {
				values = append(values, run.Result.Weights[c])
			}
			x := float64(c)
			if len(methods) > 1 {
				x += spread * (float64(rank)/float64(len(methods)-1) - 0.5)
			}
			low, high := slices.Min(values), slices.Max(values)
			highest = math.Max(highest, high)
			points = append(points, plotter.XY{X: x, Y: stat.Mean(values, nil)})
			panel.Add(&plotter.Line{
				XYs:       plotter.XYs{{X: x, Y: low}, {X: x, Y: high}},
				LineStyle: draw.LineStyle{Color: style.color, Width: vg.Points(0.8)},
			})
		}
		panel.Add(&plotter.Scatter{XYs: points, GlyphStyle: style.mark()})
		f.legend.add(method, &plotter.Scatter{GlyphStyle: style.mark()})
	}
	setClassAxes(panel, classes, highest)
	f.panels = [][]*plot.Plot{{panel}}
	return f
}

// namedClasses is about the largest number of classes whose names have room on an axis.
const namedClasses = 20

// setClassAxes names the classes along x, as many as have room, and lets y reach from 0 over
// highest.
func setClassAxes(panel *plot.Plot, classes []string, highest float64) {
	every := (len(classes) + namedClasses - 1) / namedClasses
	setAxis(&panel.Y, 0, highest, 6, 0, 0, math.Inf(1))
	panel.Y.Min = 0
	var ticks plot.ConstantTicks
	for class := 0; class < len(classes); class += every {
		ticks = append(ticks, plot.Tick{Value: float64(class), Label: classes[class]})
	}
	panel.X.Min, panel.X.Max = -0.5, float64(len(classes))-0.5
	panel.X.Tick.Marker = ticks
}
