package embedded

// WithMaxUnsent bounds the bytes that are kept for a client that does not read. The usual bound is
// large, and tests of it need not be.
func WithMaxUnsent(bytes int) Option { return func(s *settings) { s.maxUnsent = bytes } }

// SetCounter sets the number of a node's next sequential child, on every replica: to reach the last
// numbers takes years of creates.
func (s *Server) SetCounter(path string, next int32) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	for _, r := range s.e.replicas {
		r.tree.nodes[path].stat.cversion = next
	}
}
