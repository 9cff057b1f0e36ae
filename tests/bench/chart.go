package main

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// The size of a chart. It is a PNG, which looks the same with any fonts, on a white ground, which
// makes it legible on a dark page, too.
const (
	chartWidth  = 18 * vg.Centimeter
	chartHeight = 10.5 * vg.Centimeter
	chartDPI    = 144
	margin      = 10 // points, around everything
	legendWidth = 78 // points, beside the plot
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
	inMemory:      {color.RGBA{0x00, 0x00, 0x00, 0xff}, draw.CrossGlyph{}},
	bareExists:    {color.RGBA{0x80, 0x80, 0x80, 0xff}, draw.PlusGlyph{}},
	goZkLock:      {color.RGBA{0xe6, 0x9f, 0x00, 0xff}, draw.SquareGlyph{}},
	ours:          {color.RGBA{0x00, 0x72, 0xb2, 0xff}, draw.CircleGlyph{}},
	oursAsActors:  {color.RGBA{0x56, 0xb4, 0xe9, 0xff}, draw.RingGlyph{}},
	oursNoSyncs:   {color.RGBA{0xcc, 0x79, 0xa7, 0xff}, draw.CircleGlyph{}},
	oursByGateway: {color.RGBA{0x00, 0x9e, 0x73, 0xff}, draw.BoxGlyph{}},
	oursSessions:  {color.RGBA{0xe6, 0x9f, 0x00, 0xff}, draw.SquareGlyph{}},
	curatorsMutex: {color.RGBA{0xd5, 0x5e, 0x00, 0xff}, draw.TriangleGlyph{}},
	kazoosLock:    {color.RGBA{0x00, 0x9e, 0x73, 0xff}, draw.PyramidGlyph{}},

	oursByGatewayInCohorts: {color.RGBA{0x56, 0xb4, 0xe9, 0xff}, draw.RingGlyph{}},
}

var paleGrey = color.Gray{0xdd}

// plot writes a chart of each metric that has several sizes into a folder, named <metric>.png, or <metric>-ensemble.png:
// medians, and the spread of the rounds.
func (r result) plot(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	for _, w := range workloads {
		for _, m := range w.metrics {
			found := slices.DeleteFunc(slices.Clone(r.Figures), func(f figure) bool { return f.Workload != m.name })
			if len(found) == 0 || found[0].N == found[len(found)-1].N {
				continue
			}
			name := m.name
			if r.Members > 1 {
				name += "-ensemble"
			}
			if err := r.chart(w, m, found).save(filepath.Join(folder, name+".png")); err != nil {
				return fmt.Errorf("bench: chart of %s: %w", m.name, err)
			}
		}
	}
	return nil
}

// chart is a plot with its legend beside it, where it hides nothing.
type chart struct {
	*plot.Plot
	entries []entry // of the legend
}

type entry struct {
	name   string
	thumbs []plot.Thumbnailer
}

// newChart has a title, and below it what it was measured on.
func (r result) newChart(title string) *chart {
	p := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font = font.From(sans, 9)
	}
	p.Title.TextStyle.Font.Size = 10
	p.Title.Text, p.Title.Padding = title+"\n"+r.Servers, vg.Points(8)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(4)
	p.BackgroundColor = color.White
	return &chart{Plot: p}
}

func (c *chart) save(file string) error {
	image := vgimg.NewWith(vgimg.UseWH(chartWidth, chartHeight), vgimg.UseDPI(chartDPI), vgimg.UseBackgroundColor(color.White))
	whole := draw.Crop(draw.New(image), margin, -margin, margin, -margin)
	legend := plot.NewLegend()
	legend.TextStyle.Font, legend.Padding, legend.Top, legend.Left = c.X.Tick.Label.Font, vg.Points(3), true, true
	for _, e := range c.entries {
		legend.Add(e.name, e.thumbs...)
	}
	legend.Draw(draw.Crop(whole, whole.Size().X-legendWidth+margin, 0, 0, -40))
	c.Draw(draw.Crop(whole, 0, -legendWidth, 0, 0))
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = vgimg.PngCanvas{Canvas: image}.WriteTo(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// chart draws one metric over n.
func (r result) chart(w workload, m metric, found []figure) *chart {
	c := r.newChart(m.title)
	c.Y.Label.Text = m.unit
	if m.better != neither {
		c.Y.Label.Text += map[better]string{less: " (less is better)", more: " (more is better)"}[m.better]
	}
	c.lines(w, found)
	return c
}

// byPeer deals figures out, and names the peers in the order in which they come, but Turnstile first.
func byPeer(found []figure) (names []string, of map[string][]figure) {
	of = map[string][]figure{}
	for _, f := range found {
		if of[f.Peer] == nil {
			names = append(names, f.Peer)
		}
		of[f.Peer] = append(of[f.Peer], f)
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names, of
}

func rank(peer string) int {
	if isOurs(peer) {
		return 0
	}
	return 1
}
