package interop

// Detain keeps the holder of this name inside, from when it enters next until release is called;
// inside is closed once it is there. It is for holders that report over the wire: they wait for the
// answer to their report.
func (w *Witness) Detain(holder string) (inside <-chan struct{}, release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &detention{inside: make(chan struct{}), free: make(chan struct{})}
	w.detained[holder] = d
	return d.inside, func() { w.free(holder, d) }
}

func (w *Witness) free(holder string, d *detention) {
	w.mu.Lock()
	defer w.mu.Unlock()
	closeOnce(d.free)
	if w.detained[holder] == d {
		delete(w.detained, holder)
	}
}

// await blocks while the holder is detained.
func (w *Witness) await(holder string, stopped <-chan struct{}) {
	w.mu.Lock()
	d := w.detained[holder]
	w.mu.Unlock()
	if d == nil {
		return
	}
	select {
	case <-d.free:
	case <-stopped:
	}
}

// closeOnce closes a channel that the caller's mutex guards.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
