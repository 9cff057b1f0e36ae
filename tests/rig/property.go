package rig

import "maps"

// SetSystemProperty sets a Java system property from the next start of the server on, and unsets it
// where the value is empty. Operators do so to a server that does not start.
func (s *Server) SetSystemProperty(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings.properties = maps.Clone(s.settings.properties)
	if s.settings.properties[name] = value; value == "" {
		delete(s.settings.properties, name)
	}
}
