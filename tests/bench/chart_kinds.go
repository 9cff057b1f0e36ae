package main

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lines draws a line for each peer; both axes are logarithmic, but for figures that reach 0.
func (c *chart) lines(w workload, found []figure) {
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = paleGrey, paleGrey
	c.Add(grid)
	c.X.Label.Text = "n: " + w.per
	c.X.Scale, c.X.Tick.Marker = plot.LogScale{}, sizeTicks(found)
	names, of := byPeer(found)
	for _, name := range slices.Backward(names) { // the first is drawn last, above the others
		var places plotter.XYs
		var spread plotter.YErrors // from the least to the most
		for _, f := range of[name] {
			places = append(places, plotter.XY{X: float64(f.N), Y: f.Figure.Median})
			spread = append(spread, struct{ Low, High float64 }{f.Figure.Median - f.Figure.Least, f.Figure.Most - f.Figure.Median})
		}
		style := styles[name]
		line := &plotter.Line{XYs: places, LineStyle: draw.LineStyle{Color: style.color, Width: vg.Points(1.5)}}
		dots := &plotter.Scatter{XYs: places, GlyphStyle: draw.GlyphStyle{Color: style.color, Radius: vg.Points(3), Shape: style.shape}}
		c.Add(line, dots, &plotter.YErrorBars{XYs: places, YErrors: spread, CapWidth: vg.Points(5),
			LineStyle: draw.LineStyle{Color: style.color, Width: vg.Points(0.75)}})
		c.entries = slices.Insert(c.entries, 0, entry{name, []plot.Thumbnailer{line, dots}})
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, f := range found {
		least, most = min(least, f.Figure.Least), max(most, f.Figure.Most)
	}
	if least > 0 {
		c.Y.Scale, c.Y.Tick.Marker = plot.LogScale{}, decades{}
		c.Y.Min, c.Y.Max = roundLog(least, most)
	} else {
		c.Y.Min = min(least, 0)
		c.Y.Max = max(c.Y.Max, c.Y.Min+1)
	}
	c.X.Min, c.X.Max = c.X.Min/1.15, c.X.Max*1.15
}
