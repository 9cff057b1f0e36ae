package embedded

// latency is how long requests took, in milliseconds.
type latency struct{ least, most, sum, count int64 }

func (l *latency) add(ms int64) {
	if l.count == 0 || ms < l.least {
		l.least = ms
	}
	l.most = max(l.most, ms)
	l.sum += ms
	l.count++
}

func (l *latency) average() float64 {
	if l.count == 0 {
		return 0
	}
	return float64(l.sum) / float64(l.count)
}
