package embedded

// WithMaxUnsent bounds what is kept for a client that does not read. The bound is large, and tests of it
// need not be.
func WithMaxUnsent(bytes int) Option { return func(s *settings) { s.maxUnsent = bytes } }
