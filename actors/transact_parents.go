package actors

import (
	"errors"
	"slices"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// A transaction whose creates want their parents is first sent without them: most often they exist.
// When it is refused because a parent is missing, the creates of the missing nodes go into it,
// before the create that needs them. So all of it is carried out or nothing. Where somebody else
// makes or deletes a parent meanwhile, it is refused, and looked at, again.

type madeParents struct {
	want  map[string]bool // the creates that may have their parents made; nil where none may
	added []bool          // for each part, whether it creates a parent
	none  string          // whose parents all existed at the last look
}

func (p *madeParents) begin(ops *[]zkconn.Op) {
	if !slices.ContainsFunc(*ops, func(o zkconn.Op) bool { return o.Parents }) {
		return
	}
	*ops = slices.Clone(*ops)
	p.want, p.added = map[string]bool{}, make([]bool, len(*ops))
	for i := range *ops {
		if o := &(*ops)[i]; o.Parents {
			p.want[o.Path], o.Parents = true, false
		}
	}
}

// mend looks for the parents that a refused transaction needs, and reports whether it is to be sent
// again. If not, the error says why it was refused.
func (p *madeParents) mend(conn *zkconn.Conn, ops *[]zkconn.Op, refusal error) (again bool, err error) {
	var refused *zkconn.Error
	if p.want == nil || !errors.As(refusal, &refused) {
		return false, refusal
	}
	creates := func(o zkconn.Op) bool { return o.Kind == zkconn.OpCreate && o.Path == refused.Path }
	at := slices.IndexFunc(*ops, creates)
	switch {
	case at < 0:
		return false, refusal
	case p.added[at] && slices.ContainsFunc((*ops)[at+1:], creates): // the caller makes it, too, and after its child
		return false, refusal
	case errors.Is(refusal, zkconn.ErrNodeExists) && p.added[at]: // somebody has made it meanwhile
		*ops, p.added = slices.Delete(*ops, at, at+1), slices.Delete(p.added, at, at+1)
		return true, nil
	case !errors.Is(refusal, zkconn.ErrNoNode) || !p.want[refused.Path] && !p.added[at]:
		return false, refusal
	}
	missing, err := conn.MissingParents(refused.Path)
	switch {
	case zkconn.OutcomeOf(err) == zkconn.Refused:
		return false, err
	case err != nil: // the connection is lost; ask on the next
		return true, nil
	}
	missing = slices.DeleteFunc(missing, func(parent zkconn.Op) bool {
		return slices.ContainsFunc((*ops)[:at], func(o zkconn.Op) bool {
			return o.Kind == zkconn.OpCreate && o.Path == parent.Path
		})
	})
	if len(missing) == 0 { // made meanwhile, unless the transaction itself deletes it
		first := p.none != refused.Path
		p.none = refused.Path
		return first, refusal
	}
	p.none = ""
	*ops = slices.Insert(*ops, at, missing...)
	p.added = slices.Insert(p.added, at, slices.Repeat([]bool{true}, len(missing))...)
	return true, nil
}

func (p *madeParents) trim(results []zkconn.OpResult) []zkconn.OpResult {
	if p.want == nil {
		return results
	}
	var asked []zkconn.OpResult
	for i, result := range results {
		if !p.added[i] {
			asked = append(asked, result)
		}
	}
	return asked
}
