package main

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	_ "gonum.org/v1/plot/vg/vgsvg" // the format
)

const (
	chartWidth  = 18 * vg.Centimeter
	chartHeight = 11 * vg.Centimeter
	barWidth    = 36 // points
)

// paint is the colour of each peer: of the palette of Okabe and Ito, which people who see colours differently tell apart.
var paint = map[string]color.Color{
	bareRequests:  color.RGBA{0x99, 0x99, 0x99, 0xff},
	goZkLock:      color.RGBA{0xe6, 0x9f, 0x00, 0xff},
	ours:          color.RGBA{0x00, 0x72, 0xb2, 0xff},
	oursAsActors:  color.RGBA{0x56, 0xb4, 0xe9, 0xff},
	curatorsMutex: color.RGBA{0xd5, 0x5e, 0x00, 0xff},
	kazoosLock:    color.RGBA{0x00, 0x9e, 0x73, 0xff},
}

// plot writes a chart of each metric into a folder, named <metric>.svg: medians, and the spread of the rounds.
func (r result) plot(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	for _, w := range workloads() {
		for _, m := range w.metrics {
			var found []figure
			for _, f := range r.Figures {
				if f.Workload == m.name {
					found = append(found, f)
				}
			}
			if len(found) == 0 {
				continue
			}
			if err := r.chart(w, m, found, filepath.Join(folder, m.name+".svg")); err != nil {
				return fmt.Errorf("bench: chart of %s: %w", m.name, err)
			}
		}
	}
	return nil
}

// chart draws one metric: lines over n where there are several sizes, otherwise bars.
func (r result) chart(w workload, m metric, found []figure, file string) error {
	p := plot.New()
	p.Title.Text = m.title + "\n" + r.Servers
	p.Title.Padding = vg.Points(8)
	p.Y.Label.Text = m.unit
	if m.better != neither {
		p.Y.Label.Text += map[better]string{less: " (less is better)", more: " (more is better)"}[m.better]
	}
	p.X.Label.Text = "n, " + w.per
	p.BackgroundColor = color.White
	p.Add(plotter.NewGrid())
	draw := bars
	if sizes(found) > 1 {
		draw = lines
	}
	if err := draw(p, found); err != nil {
		return err
	}
	return p.Save(chartWidth, chartHeight, file)
}

func sizes(found []figure) int {
	all := map[int]bool{}
	for _, f := range found {
		all[f.N] = true
	}
	return len(all)
}

// points are figures with their spread.
type points struct {
	plotter.XYs
	plotter.YErrors
}

// byPeer deals figures out, and names the peers in the order in which they come.
func byPeer(found []figure) (names []string, of map[string][]figure) {
	of = map[string][]figure{}
	for _, f := range found {
		if of[f.Peer] == nil {
			names = append(names, f.Peer)
		}
		of[f.Peer] = append(of[f.Peer], f)
	}
	return names, of
}

// at gives figures their places.
func at(found []figure, place func(figure) float64) points {
	var p points
	for _, f := range found {
		p.XYs = append(p.XYs, plotter.XY{X: place(f), Y: f.Figure.Median})
		p.YErrors = append(p.YErrors, struct{ Low, High float64 }{f.Figure.Median - f.Figure.Least, f.Figure.Most - f.Figure.Median})
	}
	return p
}

// lines draws a line for each peer; both axes are logarithmic, but for figures that reach 0.
func lines(p *plot.Plot, found []figure) error {
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, sizeTicks(found)
	if least(found) > 0 {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	names, of := byPeer(found)
	for _, name := range names {
		places := at(of[name], func(f figure) float64 { return float64(f.N) })
		line, dots, err := plotter.NewLinePoints(places.XYs)
		if err != nil {
			return err
		}
		spread, err := plotter.NewYErrorBars(places)
		if err != nil {
			return err
		}
		line.Color, dots.Color, spread.Color = paint[name], paint[name], paint[name]
		line.Width, dots.Shape = vg.Points(1.5), draw.CircleGlyph{}
		p.Add(line, dots, spread)
		p.Legend.Add(name, line, dots)
	}
	p.Legend.Top, p.Legend.Padding = true, vg.Points(2)
	return nil
}

func least(found []figure) float64 {
	lowest := math.Inf(1)
	for _, f := range found {
		lowest = min(lowest, f.Figure.Least)
	}
	return lowest
}

// sizeTicks has a tick at each size.
func sizeTicks(found []figure) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	seen := map[int]bool{}
	for _, f := range found {
		if !seen[f.N] {
			seen[f.N] = true
			ticks = append(ticks, plot.Tick{Value: float64(f.N), Label: strconv.Itoa(f.N)})
		}
	}
	return ticks
}

// bars draws a bar for each peer.
func bars(p *plot.Plot, found []figure) error {
	names, of := byPeer(found)
	p.X.Label.Text = fmt.Sprintf("n = %d: %s", found[0].N, p.X.Label.Text[len("n, "):])
	for place, name := range names {
		places := at(of[name], func(figure) float64 { return float64(place) })
		bar, err := plotter.NewBarChart(plotter.Values{places.XYs[0].Y}, vg.Points(barWidth))
		if err != nil {
			return err
		}
		bar.XMin, bar.Color, bar.LineStyle.Width = float64(place), paint[name], 0
		spread, err := plotter.NewYErrorBars(places)
		if err != nil {
			return err
		}
		p.Add(bar, spread)
	}
	p.NominalX(names...)
	p.Y.Min = min(p.Y.Min, 0)
	return nil
}
