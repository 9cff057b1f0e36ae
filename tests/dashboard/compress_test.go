package dashboard

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// compress makes a PNG small: with the 256 colours of which there is most. Pages have few colours; what is lost is
// some of the shades at the edges of letters.
func compress(t testing.TB, shot []byte) []byte {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(shot))
	require.NoError(t, err)
	counts := map[color.RGBA]int{}
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range colours[:min(len(colours), 256)] {
		palette = append(palette, c)
	}
	reduced := image.NewPaletted(bounds, palette)
	draw.Draw(reduced, bounds, picture, bounds.Min, draw.Src)
	var small bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, reduced))
	return small.Bytes()
}
