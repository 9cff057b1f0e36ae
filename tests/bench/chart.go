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

// style is the colour and shape of a peer. The colours are of the palette of Okabe and Ito, which
// people who see colours differently tell apart; the shapes are for people who see none.
type style struct {
	color color.Color
	shape draw.GlyphDrawer
}

var styles = map[string]style{
	bareRequests:  {color.RGBA{0x80, 0x80, 0x80, 0xff}, draw.PlusGlyph{}},
	batched:       {color.RGBA{0x00, 0x00, 0x00, 0xff}, draw.CrossGlyph{}},
	goZkLock:      {color.RGBA{0xe6, 0x9f, 0x00, 0xff}, draw.SquareGlyph{}},
	ours:          {color.RGBA{0x00, 0x72, 0xb2, 0xff}, draw.CircleGlyph{}},
	curatorsMutex: {color.RGBA{0xd5, 0x5e, 0x00, 0xff}, draw.TriangleGlyph{}},
	kazoosLock:    {color.RGBA{0x00, 0x9e, 0x73, 0xff}, draw.PyramidGlyph{}},
}

var otherStyle = style{color.RGBA{0x56, 0xb4, 0xe9, 0xff}, draw.RingGlyph{}}

// plot writes a chart of each workload that was measured at several sizes into a folder, named <workload>.png: medians, and
// the spread of the rounds.
func (b *bench) plot(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	for _, w := range workloads {
		found := slices.DeleteFunc(slices.Clone(b.figures), func(f figure) bool { return f.metric != w.name })
		if len(found) == 0 || found[0].n == found[len(found)-1].n {
			continue
		}
		if err := save(b.chart(w, found), filepath.Join(folder, w.name+".png")); err != nil {
			return fmt.Errorf("bench: chart of %s: %w", w.name, err)
		}
	}
	return nil
}

// chart draws a line for each peer over n. Both axes are logarithmic.
func (b *bench) chart(w workload, found []figure) *plot.Plot {
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
	for _, name := range names {
		var places plotter.XYs
		var spread plotter.YErrors // from the least to the most
		for _, f := range of[name] {
			places = append(places, plotter.XY{X: float64(f.n), Y: f.median})
			spread = append(spread, struct{ Low, High float64 }{f.median - f.least, f.most - f.median})
		}
		style, known := styles[name]
		if !known {
			style = otherStyle
		}
		line := &plotter.Line{XYs: places, LineStyle: draw.LineStyle{Color: style.color, Width: vg.Points(1.5)}}
		dots := &plotter.Scatter{XYs: places, GlyphStyle: draw.GlyphStyle{Color: style.color, Radius: vg.Points(3), Shape: style.shape}}
		p.Add(line, dots, &plotter.YErrorBars{XYs: places, YErrors: spread, CapWidth: vg.Points(5), LineStyle: line.LineStyle})
		p.Legend.Add(name, line, dots)
	}
	return p
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
