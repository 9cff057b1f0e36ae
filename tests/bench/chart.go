package main

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// The size of a chart. It is a PNG on a white ground, which makes it legible on a dark page, too.
const (
	chartWidth  = 18 * vg.Centimeter
	chartHeight = 10.5 * vg.Centimeter
	chartDPI    = 144
	legendWidth = 84 // points, beside the plot, where it hides nothing
)

// plot writes a chart of each workload that was measured at several sizes into a folder, named <workload>.png: the
// medians of the rounds.
func (b *bench) plot(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	for _, w := range workloads {
		found := slices.DeleteFunc(slices.Clone(b.figures), func(f figure) bool { return f.metric != w.name })
		if len(found) == 0 || found[0].n == found[len(found)-1].n {
			continue
		}
		drawn, err := b.chart(w, found)
		if err == nil {
			err = save(drawn, filepath.Join(folder, w.name+".png"))
		}
		if err != nil {
			return fmt.Errorf("bench: chart of %s: %w", w.name, err)
		}
	}
	return nil
}

// chart draws a line for each peer over n. Both axes are logarithmic.
func (b *bench) chart(w workload, found []figure) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.Title.Padding = w.name+", "+b.stage.about, vg.Points(8)
	p.X.Label.Text, p.Y.Label.Text = "n: "+w.per, w.metrics[0].unit
	p.X.Scale, p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogScale{}, decades{}
	p.Legend.Top, p.Legend.XOffs, p.Legend.Padding, p.BackgroundColor = true, legendWidth, vg.Points(3), color.White
	p.Add(plotter.NewGrid())
	var ticks plot.ConstantTicks
	of := map[string][]figure{}
	var names []string
	for _, f := range found {
		if of[f.peer] == nil {
			names = append(names, f.peer)
		}
		of[f.peer] = append(of[f.peer], f)
		ticks = append(ticks, plot.Tick{Value: float64(f.n), Label: fmt.Sprint(f.n)})
	}
	p.X.Tick.Marker = slices.CompactFunc(ticks, func(a, b plot.Tick) bool { return a.Label == b.Label })
	var lines []any
	for _, name := range names {
		var places plotter.XYs
		for _, f := range of[name] {
			places = append(places, plotter.XY{X: float64(f.n), Y: f.median})
		}
		lines = append(lines, name, places)
	}
	return p, plotutil.AddLinePoints(p, lines...)
}

// save draws a plot, with its legend beside it.
func save(p *plot.Plot, file string) error {
	image := vgimg.NewWith(vgimg.UseWH(chartWidth, chartHeight), vgimg.UseDPI(chartDPI), vgimg.UseBackgroundColor(color.White))
	p.Draw(draw.Crop(draw.New(image), 10, -legendWidth-10, 10, -10))
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = vgimg.PngCanvas{Canvas: image}.WriteTo(f)
	return err
}

// decades are the ticks of a logarithmic axis, with labels at 1, 2 and 5 times the powers of ten.
type decades struct{}

// Ticks gives those from min to max.
func (decades) Ticks(min, max float64) (ticks []plot.Tick) {
	for power := math.Pow(10, math.Floor(math.Log10(min))); power <= max; power *= 10 {
		for digit := range 10 {
			value := float64(digit) * power
			if value < min || value > max {
				continue
			}
			tick := plot.Tick{Value: value}
			if digit == 1 || digit == 2 || digit == 5 {
				tick.Label = fmt.Sprint(value)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}
