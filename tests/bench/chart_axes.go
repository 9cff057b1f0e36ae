package main

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

// sizeTicks has a tick at each size.
func sizeTicks(found []figure) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for _, f := range found {
		if !slices.ContainsFunc(ticks, func(t plot.Tick) bool { return t.Value == float64(f.N) }) {
			ticks = append(ticks, plot.Tick{Value: float64(f.N), Label: label(float64(f.N))})
		}
	}
	return ticks
}

// decades are the ticks of a logarithmic axis: labels at 1, 2 and 5 where there is room for them, otherwise at the
// powers of ten.
type decades struct{}

// Ticks gives those from min to max.
func (decades) Ticks(min, max float64) (ticks []plot.Tick) {
	const crowded = 2.2 // decades
	wide := math.Log10(max/min) > crowded
	for power := math.Floor(math.Log10(min)); power <= math.Ceil(math.Log10(max)); power++ {
		for digit := 1.0; digit < 10; digit++ {
			value := digit * math.Pow(10, power)
			if value < min*0.999 || value > max*1.001 {
				continue
			}
			tick := plot.Tick{Value: value}
			if digit == 1 || !wide && (digit == 2 || digit == 5) {
				tick.Label = label(value)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// roundLog widens a range to values that a logarithmic axis has labels at: 1, 2 or 5 times a power of ten.
func roundLog(least, most float64) (from, to float64) {
	from, to = math.Pow(10, math.Floor(math.Log10(least))), math.Pow(10, math.Ceil(math.Log10(most)))
	for _, digit := range []float64{2, 5} {
		if start := math.Pow(10, math.Floor(math.Log10(least))) * digit; start <= least {
			from = start
		}
	}
	for _, digit := range []float64{5, 2} {
		if end := math.Pow(10, math.Floor(math.Log10(most))) * digit; end >= most {
			to = end
		}
	}
	if from == to {
		to *= 10
	}
	return from, to
}

// label writes a value with as few digits as there are, and no exponent.
func label(value float64) string {
	return separated(strconv.FormatFloat(math.Round(value*1e6)/1e6, 'f', -1, 64))
}

// separated has a space between thousands.
func separated(text string) string {
	end := len(text)
	for i := range text {
		if text[i] == '.' {
			end = i
			break
		}
	}
	for at := end - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + " " + text[at:]
	}
	return text
}
