package relay

// places are the gateways that a request may be at, by their numbers.
type places struct {
	named  int
	now    int  // whose turn it is
	pinned bool // it must not go to another one: see Requester.Pin
	full   int  // that were full, in a row
}

// several tells whether there is another gateway to go to.
func (p *places) several() bool { return p.named > 1 && !p.pinned }

// next is that one; the same where there is none.
func (p *places) next() int {
	if !p.several() {
		return p.now
	}
	return (p.now + 1) % p.named
}
