package rig

// ForgetSessions, while true, has clients that connect again ask for a new session instead of their own: what stands in
// for a server or a proxy that hands out another session on each reconnect.
func (p *Proxy) ForgetSessions(forget bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget = forget
}

func (p *Proxy) forgets() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forget
}

// forgetSession takes the session and its password out of a connect request: length, protocol version, last zxid seen,
// timeout, session, length of the password, password, read-only.
func forgetSession(frame []byte) {
	const session, password, end = 4 + 4 + 8 + 4, 4 + 4 + 8 + 4 + 8 + 4, 4 + 4 + 8 + 4 + 8 + 4 + 16
	if len(frame) < end {
		return
	}
	clear(frame[session : session+8])
	clear(frame[password:end])
}
