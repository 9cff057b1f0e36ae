package walk

// shelf keeps the states of one level in pieces, so that memory is given back piece by piece.
type shelf struct {
	n      int
	pieces [][]state
}

const pieceSize = 1024

func (s *shelf) put(v *state) {
	last := len(s.pieces) - 1
	if last < 0 || len(s.pieces[last]) == pieceSize {
		s.pieces = append(s.pieces, make([]state, 0, pieceSize))
		last++
	}
	s.pieces[last] = append(s.pieces[last], *v)
	s.n++
}

// empty gives the states in the order in which they were put there, and forgets them.
func (s *shelf) empty() func(yield func(*state) bool) {
	return func(yield func(*state) bool) {
		for at, piece := range s.pieces {
			for i := range piece {
				if !yield(&piece[i]) {
					return
				}
			}
			s.pieces[at] = nil
		}
	}
}
