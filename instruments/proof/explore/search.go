//go:build dewpond_explore

package main

// A search runs a program again and again, each time with another schedule.
//
// Without a bound it covers every interleaving. Interleavings that differ only in the
// order of independent accesses are the same to the engine, so one of each kind is
// enough: dynamic partial-order reduction (C. Flanagan and P. Godefroid, POPL 2005),
// with sleep sets (P. Godefroid, 1996). selfcheck.go tests that this loses nothing.
//
// With a bound it runs every interleaving of at most that many preemptions, without
// reduction, so a fault of the reduction has no effect (M. Musuvathi and S. Qadeer,
// PLDI 2007). Switches where a thread ends or waits do not count.
type search struct {
	program    program
	bound      int // the most preemptions, or unbounded
	frames     []frame
	executions int
	pruned     int // executions that turned out to be covered
	steps      int

	// each, if set, is called after each execution that was not cut short, instead of
	// check, and failures do not end the search.
	each func(r *run)
}

const unbounded = -1

// A frame is one position of the current schedule.
type frame struct {
	enabled   uint // threads that could step here
	backtrack uint // threads that must be tried here
	done      uint // threads that have been tried
	sleep     uint // threads that need not be tried: what they would do was covered before
	stay      uint // threads whose step here is no preemption
	spent     int  // preemptions before this position
	chosen    int
}

// A finding is the first execution that went wrong.
type finding struct {
	what     string
	schedule []int // the thread of each step
}

// explore runs the program through all interleavings, or until one goes wrong, or for
// limit executions (0: no limit). complete says whether it ran all.
func (s *search) explore(limit int, progress func(executions int)) (found *finding, complete bool) {
	for {
		r, check := s.program()
		covered := s.execute(r)
		s.executions++
		s.steps += len(r.trace)
		switch {
		case covered:
			s.pruned++
		case s.each != nil:
			s.each(r)
		case r.failure == "":
			r.finish(check)
		}
		r.end()
		if r.failure != "" && s.each == nil {
			found = &finding{what: r.failure}
			for _, e := range r.trace {
				found.schedule = append(found.schedule, e.thread)
			}
			return found, false
		}
		if !s.next() {
			return nil, true
		}
		if limit > 0 && s.executions >= limit {
			return nil, false
		}
		progress(s.executions)
	}
}

// execute replays the frames' choices and then goes on to the end. It returns true if
// everything that could have followed was covered before.
func (s *search) execute(r *run) (covered bool) {
	replay := len(s.frames)
	var sleep uint
	for depth := 0; r.failure == ""; depth++ {
		enabled := r.enabled()
		if enabled == 0 {
			for p, t := range r.threads {
				if !t.done && s.bound == unbounded {
					s.findRaces(r, p)
				}
			}
			r.deadlock()
			return false
		}
		if depth >= replay {
			s.frames = append(s.frames, frame{enabled: enabled, sleep: sleep})
			if s.bound != unbounded {
				s.allow(r, depth)
			}
		}
		f := &s.frames[depth]
		if depth >= replay {
			awake := enabled &^ sleep
			if awake == 0 {
				s.frames = s.frames[:depth]
				return true
			}
			f.chosen = lowest(awake)
			if last := r.last(); last >= 0 && awake>>last&1 == 1 {
				f.chosen = last // stay with the thread that ran last
			}
			f.backtrack |= 1 << f.chosen
		}
		if s.bound == unbounded {
			sleep = f.asleepAfter(r)
			if depth >= replay-1 {
				s.findRaces(r, f.chosen)
			}
		}
		if len(r.trace) > maxSteps {
			r.fail("no end after %d steps", len(r.trace))
			return false
		}
		r.step(f.chosen)
	}
	return false
}

const maxSteps = 5000

// asleepAfter returns the threads that sleep after the frame's choice: those whose next
// step was covered here and does not depend on the choice.
func (f *frame) asleepAfter(r *run) (sleep uint) {
	for p, t := range r.threads {
		if (f.sleep|f.done)>>p&1 == 1 && p != f.chosen && !t.done && !t.pending.dependent(&r.threads[f.chosen].pending) {
			sleep |= 1 << p
		}
	}
	return sleep
}

// allow makes the frame at depth try the threads that the bound lets step there.
func (s *search) allow(r *run, depth int) {
	f := &s.frames[depth]
	if depth > 0 {
		before := &s.frames[depth-1]
		f.spent = before.spent
		if before.stay>>before.chosen&1 == 0 {
			f.spent++
		}
	}
	// A step of any other thread preempts the one that ran last and could go on.
	f.stay = f.enabled
	if last := r.last(); last >= 0 && f.enabled>>last&1 == 1 && r.threads[last].pending.object != nil {
		f.stay = 1 << last
	}
	if f.backtrack = f.enabled; f.spent >= s.bound {
		f.backtrack = f.stay
	}
}

// findRaces looks for the earlier steps that p's next access, which is about to be
// made, could also come before, and has those orders tried.
func (s *search) findRaces(r *run, p int) {
	for i := range r.trace {
		s.reverse(r, i, p)
	}
}

// reverse makes frame i try to have p's next access before step i, unless they do not
// depend on each other, or must be in this order.
func (s *search) reverse(r *run, i, p int) {
	t, e := r.threads[p], &r.trace[i]
	if e.thread == p || e.index <= t.clock[e.thread] || !e.access.dependent(&t.pending) {
		return
	}
	first := r.firstWithout(i, p)
	f := &s.frames[i]
	switch {
	case first&(f.backtrack|f.sleep) != 0: // is or will be tried, or was tried elsewhere
	case first&f.enabled == 0: // because a thread spins there
		f.backtrack |= f.enabled
	case first&f.enabled>>p&1 == 1:
		f.backtrack |= 1 << p
	default:
		f.backtrack |= 1 << lowest(first&f.enabled)
	}
}

// firstWithout returns the threads that can begin, at step i, the sequence of those
// later steps that did not have to come after it, followed by p's next access. To have
// that sequence tried, one of these threads must be tried. Any other enabled thread
// would not do together with sleep sets. (P. Abdulla, S. Aronis, B. Jonsson and K.
// Sagonas, POPL 2014, call them the initials, and a set that contains one a source
// set.)
func (r *run) firstWithout(i, p int) (set uint) {
	e, next := &r.trace[i], &r.threads[p].pending
	clockOfNext := r.threads[p].clock
	var begins [maxThreads]int // the index of each thread's first step in the sequence
	var clocks [maxThreads]clock
	for j := i + 1; j < len(r.trace); j++ {
		if r.clocks[j][e.thread] >= e.index {
			continue
		}
		if q := r.trace[j].thread; begins[q] == 0 {
			begins[q], clocks[q] = r.trace[j].index, r.clocks[j]
		}
		if r.trace[j].access.dependent(next) {
			clockOfNext.join(r.clocks[j])
		}
	}
	if begins[p] == 0 {
		begins[p], clocks[p] = r.threads[p].steps+1, clockOfNext
	}
	for q := range r.threads {
		first := begins[q] > 0
		for other := range r.threads {
			if other != q && begins[other] > 0 && clocks[q][other] >= begins[other] {
				first = false
			}
		}
		if first {
			set |= 1 << q
		}
	}
	return set
}

// next goes back to the last position where something is left to try.
func (s *search) next() bool {
	for len(s.frames) > 0 {
		f := &s.frames[len(s.frames)-1]
		f.done |= 1 << f.chosen
		if left := f.backtrack &^ f.done &^ f.sleep; left != 0 {
			f.chosen = lowest(left)
			return true
		}
		s.frames = s.frames[:len(s.frames)-1]
	}
	return false
}
