package embedded

// set keeps its members in an order that depends on nothing but the additions and removals, so that
// a run that is repeated goes the same way. It costs no map while it is small.
type set[T comparable] struct {
	items []T
	at    map[T]int
}

const smallSet = 8

func (s *set[T]) index(item T) int {
	if s.at != nil {
		if i, ok := s.at[item]; ok {
			return i
		}
		return -1
	}
	for i, have := range s.items {
		if have == item {
			return i
		}
	}
	return -1
}

func (s *set[T]) has(item T) bool { return s != nil && s.index(item) >= 0 }

func (s *set[T]) len() int {
	if s == nil {
		return 0
	}
	return len(s.items)
}

// add reports whether the item is new.
func (s *set[T]) add(item T) bool {
	if s.has(item) {
		return false
	}
	s.items = append(s.items, item)
	switch {
	case s.at != nil:
		s.at[item] = len(s.items) - 1
	case len(s.items) > smallSet:
		s.at = make(map[T]int, 2*smallSet)
		for i, have := range s.items {
			s.at[have] = i
		}
	}
	return true
}

// remove reports whether the item was there. The last item takes its place.
func (s *set[T]) remove(item T) bool {
	if s == nil {
		return false
	}
	i := s.index(item)
	if i < 0 {
		return false
	}
	last := len(s.items) - 1
	moved := s.items[last]
	s.items[i] = moved
	var zero T
	s.items[last] = zero
	s.items = s.items[:last]
	if s.at != nil {
		s.at[moved] = i
		delete(s.at, item)
	}
	return true
}
