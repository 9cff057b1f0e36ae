package embedded

// WithMaxUnsent bounds what is kept for a client that does not read. The bound is large, and tests of it
// need not be.
func WithMaxUnsent(bytes int) Option { return func(s *settings) { s.maxUnsent = bytes } }

// SetCounter sets what the next sequential child of a node is numbered with, on every replica: to reach the
// last numbers takes years of creates.
func (s *Server) SetCounter(path string, next int32) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	for _, r := range s.e.replicas {
		r.tree.nodes[path].stat.cversion = next
	}
}
