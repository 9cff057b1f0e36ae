package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatGrowsIsFound: figures that rise and fall, rise once, or rise while a process is young do not grow.
func TestWhatGrowsIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		objects [][]int // of each process, look by look
		grows   int
	}{
		"a leak in each process":         {[][]int{{9_000, 20_000, 21_000, 22_000}, {9_000, 19_000, 20_100}}, 1},
		"a leak beside noise":            {[][]int{{9_000, 20_000, 21_500, 21_400, 23_000, 24_700}}, 1},
		"noise":                          {[][]int{{9_000, 20_000, 26_000, 19_000, 20_100}, {9_000, 20_000, 20_200}}, 0},
		"a step":                         {[][]int{{9_000, 20_000, 20_010, 29_000, 29_020, 29_010}}, 0},
		"processes that are young":       {[][]int{{9_000, 20_000}, {9_000, 20_000}, {9_000, 20_000}, {9_000, 20_000}}, 0},
		"less than the bound":            {[][]int{{9_000, 20_000, 20_200, 20_400, 20_600, 20_800}}, 0},
		"too few differences to judge":   {[][]int{{9_000, 20_000, 21_000, 22_000}}, 0},
		"one process that leaks of four": {[][]int{{0, 9, 9_000, 18_000}, {0, 9, 9, 9}, {0, 9, 9, 9}, {0, 9, 9, 9}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c, process := newCourtroom(t), c
			for n, looks := range process.objects {
				for _, objects := range looks {
					c.rested(holder{Client: n}, rest{restObjects: objects, restActors: 7})
				}
			}
			c.judgeRest()
			r := c.result(options{}, 1)
			require.Equal(t, process.grows, r.Wrong[grows], "%+v", r.AtRest)
			require.Zero(t, r.AtRest[restActors].Median)
			require.Equal(t, 7, r.AtRest[restActors].Most)
		})
	}
}
