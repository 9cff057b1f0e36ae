package rig

// Connections counts the clients' connections that are open, also those that stall.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}
