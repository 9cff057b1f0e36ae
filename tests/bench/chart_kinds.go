package main

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lines draws a line for each peer; both axes are logarithmic, but for figures that reach 0.
func (c *chart) lines(w workload, found []figure) {
	c.grid(true)
	c.X.Label.Text = "n: " + w.per
	c.X.Scale, c.X.Tick.Marker = plot.LogScale{}, sizeTicks(found)
	names, of := byPeer(found)
	for _, name := range slices.Backward(names) { // the first is drawn last, above the others
		places := at(of[name], func(f figure) float64 { return float64(f.N) })
		style := styles[name]
		line := &plotter.Line{XYs: places.XYs, LineStyle: draw.LineStyle{Color: style.color, Width: vg.Points(1.5)}}
		dots := &plotter.Scatter{XYs: places.XYs, GlyphStyle: draw.GlyphStyle{Color: style.color, Radius: vg.Points(3), Shape: style.shape}}
		c.Add(line, dots, c.spread(places, style.color))
		c.entries = slices.Insert(c.entries, 0, entry{name, []plot.Thumbnailer{line, dots}})
	}
	least, most := reach(found)
	if least > 0 {
		c.Y.Scale, c.Y.Tick.Marker = plot.LogScale{}, decades{}
		c.Y.Min, c.Y.Max = roundLog(least, most)
	} else {
		c.Y.Min = min(least, 0)
		c.Y.Max = max(c.Y.Max, c.Y.Min+1)
	}
	c.X.Min, c.X.Max = c.X.Min/1.15, c.X.Max*1.15
}

// spread is the error bars of figures: from the least to the most.
func (c *chart) spread(places points, color color.Color) *plotter.YErrorBars {
	return &plotter.YErrorBars{XYs: places.XYs, YErrors: places.YErrors, CapWidth: vg.Points(5),
		LineStyle: draw.LineStyle{Color: color, Width: vg.Points(0.75)}}
}

// reach gives the least and the greatest of the figures.
func reach(found []figure) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, f := range found {
		least, most = min(least, f.Figure.Least), max(most, f.Figure.Most)
	}
	return least, most
}

// bars draws a bar for each peer, with its figure above.
func (c *chart) bars(w workload, found []figure) {
	c.grid(false)
	c.X.Label.Text = fmt.Sprintf("n = %d: %s", found[0].N, w.per)
	names, of := byPeer(found)
	labels := &plotter.Labels{}
	for place, name := range names {
		places := at(of[name], func(figure) float64 { return float64(place) })
		bar, err := plotter.NewBarChart(plotter.Values{places.XYs[0].Y}, vg.Points(barWidth))
		if err != nil { // only of no value, and of ones that are no number
			panic(err)
		}
		bar.XMin, bar.Color, bar.LineStyle.Width = float64(place), styles[name].color, 0
		c.Add(bar, c.spread(places, color.Black))
		summary := of[name][0].Figure
		style := c.X.Tick.Label
		style.XAlign, style.YAlign = -0.5, 0.3
		labels.XYs = append(labels.XYs, plotter.XY{X: float64(place), Y: max(summary.Most, 0)})
		labels.Labels = append(labels.Labels, separated(number(summary.Median)))
		labels.TextStyle = append(labels.TextStyle, style)
	}
	c.Add(labels)
	c.NominalX(names...)
	c.X.Min, c.X.Max = -0.6, float64(len(names))-0.4
	least, most := reach(found)
	c.Y.Min = min(least, 0) * 1.1
	c.Y.Max = max(most, 0) + (max(most, 0)-c.Y.Min)*0.1
	if c.Y.Max == c.Y.Min {
		c.Y.Max++
	}
	c.Y.Tick.Marker = round{}
}

// ratioChart compares Turnstile with go-zookeeper's Lock: the first metric of each workload. It is nothing where
// there is nothing to compare.
func (r result) ratioChart() (c *chart, any bool) {
	c = r.newChart("Turnstile beside go-zookeeper's Lock: how many times better, by workload and n")
	bars := plotter.Values{}
	var names []string
	c.Add(verticalGrid())
	labels := &plotter.Labels{}
	least, most := 1.0, 1.0
	for _, ratio := range slices.Backward(r.Ratios) {
		w, headline := workloadNamed(ratio.Workload)
		if !headline || ratio.Peer != ours || ratio.Against != goZkLock {
			continue
		}
		style := c.X.Tick.Label
		style.XAlign, style.YAlign = 0.1, -0.45
		value := ratio.Ratio.Median
		labels.XYs = append(labels.XYs, plotter.XY{X: max(value, 1), Y: float64(len(names))})
		labels.Labels = append(labels.Labels, separated(number(value))+"×")
		labels.TextStyle = append(labels.TextStyle, style)
		names = append(names, w.name+", "+strconv.Itoa(ratio.N))
		bars = append(bars, value)
		least, most = min(least, value), max(most, value)
	}
	for place, value := range bars {
		bar := &plotter.Polygon{XYs: []plotter.XYs{box(1, value, float64(place))}, Color: styles[ours].color}
		c.Add(bar)
	}
	c.Add(labels)
	c.NominalY(names...)
	c.X.Scale, c.X.Tick.Marker = plot.LogScale{}, decades{}
	c.X.Min, c.X.Max = roundLog(least, most*1.25)
	c.Y.Min, c.Y.Max = -0.6, float64(len(names))-0.4
	c.X.Label.Text = "times as good as go-zookeeper's Lock (1: the same)"
	c.height = vg.Points(float64(90 + 18*len(names)))
	return c, len(names) > 0
}

// box is a bar from one value to another.
func box(from, to, place float64) plotter.XYs {
	const half = 0.32
	return plotter.XYs{{X: from, Y: place - half}, {X: to, Y: place - half}, {X: to, Y: place + half}, {X: from, Y: place + half}}
}

func verticalGrid() *plotter.Grid {
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = paleGrey, nil
	return grid
}
