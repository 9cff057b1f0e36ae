package coordinator

// SaysTheSame is saysTheSame for tests that know what a node says.
func (sp *Spec) SaysTheSame(other *Spec) bool { return sp.saysTheSame(other) }
