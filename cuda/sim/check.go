package sim

// standardCheckers are the checkers of every launch.
func standardCheckers(l *launch) []Checker {
	list := []Checker{&raceChecker{}}
	if l.Grid.Count() > 1 {
		list = append(list, newGlobalChecker(l))
	}
	return list
}

// role is what an instruction does to memory, as races see it.
type role uint8

const (
	reads role = 1 << iota
	writes
	strong // atomic or volatile: does not race with its like
)

func roleOf(a *Access) role {
	var r role
	switch a.Kind {
	case Load, AsyncRead:
		r = reads
	case Store, AsyncWrite:
		r = writes
	case Atomic:
		r = reads | writes | strong
	}
	if a.Inst.strong {
		r |= strong
	}
	return r
}

// races reports whether two accesses that nothing orders are a race.
func (r role) races(q role) bool { return (r|q)&writes != 0 && r&q&strong == 0 }

// verb says what an access does, in a sentence.
func (r role) verb() string {
	switch {
	case r&writes == 0:
		return "reads"
	case r&reads != 0:
		return "updates"
	}
	return "writes"
}
