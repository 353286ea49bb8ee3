package misuse

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// String returns a report of several lines, with the stacks.
func (v Violation) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "dewpond: %v: %s", v.Kind, v.Summary())
	for _, line := range v.details() {
		fmt.Fprintf(&text, "\n  %s", line)
	}
	for _, s := range v.stacks() {
		fmt.Fprintf(&text, "\n%s at\n%s", s.title, strings.TrimSuffix(textOf(s.stack), "\n"))
	}
	if v.Advice != "" {
		fmt.Fprintf(&text, "\n%s", v.Advice)
	}
	return text.String()
}

// Summary says what was misused, in one line.
func (v Violation) Summary() string {
	what := fmt.Sprintf("%d bytes", v.Size)
	switch {
	case v.Count > 1:
		things := "blocks"
		if v.Type != "" {
			things = "of type " + v.Type
		}
		upTo := ""
		if v.Bytes != v.Count*v.Size {
			upTo = "up to "
		}
		what = fmt.Sprintf("%d %s of %s%d bytes, %d in all,", v.Count, things, upTo, v.Size, v.Bytes)
	case v.Type != "":
		what = fmt.Sprintf("a %s of %d bytes", v.Type, v.Size)
	}
	of := "of"
	if v.Kind == ForeignPut {
		of = "put back to"
	}
	text := fmt.Sprintf("%s %s pool %q", what, of, v.Pool)
	if n := len(v.Owners); n > 0 {
		text += fmt.Sprintf(", owners that have not released: %d", n)
	}
	return text
}

// Details returns the report without its first line: what more there is to say, and a line for each frame.
func (v Violation) Details() []string {
	lines := v.details()
	for _, s := range v.stacks() {
		lines = append(lines, s.title+" at")
		for _, f := range Frames(s.stack) {
			lines = append(lines, fmt.Sprintf("    %s %s:%d", f.Function, f.File, f.Line))
		}
	}
	if v.Advice != "" {
		lines = append(lines, v.Advice)
	}
	return lines
}

// details says more of what was misused, in lines.
func (v Violation) details() (lines []string) {
	switch v.Kind {
	case ForeignPut:
		if v.Holder != "" {
			lines = append(lines, fmt.Sprintf("it begins in a block of pool %q", v.Holder))
		} else {
			lines = append(lines, "if append has moved it out of a block: use the pool's Append, which moves it to a larger one")
		}
	case InteriorPut:
		lines = append(lines, fmt.Sprintf("it begins at offset %d of the block", v.Offset))
	case UseAfterPut, PastEnd:
		lines = append(lines, fmt.Sprintf("touched at offset %d", v.Offset))
	case ReadAfterPut:
		lines = append(lines, fmt.Sprintf("read, or written zeros to, on the page that has offset %d", v.Offset))
	case WriteAfterPut, WriteBeyond:
		where := fmt.Sprintf("written at offset %d", v.Offset)
		if v.Field != "" {
			where += ", in field " + v.Field
		}
		where += fmt.Sprintf(", over %d bytes", v.Written)
		if v.Written > len(v.New) {
			where += fmt.Sprintf(", of which these are the first %d", len(v.New))
		}
		lines = append(lines, where, fmt.Sprintf("was % x", v.Old), fmt.Sprintf("is  % x%s", v.New, inWords(v.New)))
	}
	return lines
}

// inWords returns bytes as a quoted string if they are text, and "" if they are not.
func inWords(b []byte) string {
	if !utf8.Valid(b) || slices.ContainsFunc([]rune(string(b)), func(c rune) bool { return !unicode.IsPrint(c) && !unicode.IsSpace(c) }) {
		return ""
	}
	return fmt.Sprintf("  %q", b)
}

// A titled is a stack in a report.
type titled struct {
	title string
	stack []uintptr
}

// stacks returns the stacks in the order of events.
func (v Violation) stacks() (all []titled) {
	got, put, offence := "got", "put back", "put back"
	switch v.Kind {
	case DoublePut:
		offence = "put back again"
	case ForeignPut:
		got, put = "that block: got", "that block: put back"
	case DoubleRelease:
		got, put, offence = "made", "released", "released again"
	case WriteAfterPut:
		offence = "found"
	case UseAfterPut, PastEnd:
		offence = "touched"
	}
	switch age := " " + about(v.Age).String() + " ago"; {
	case v.Count > 1:
		got += " up to" + age
	case v.Put != nil:
		put += age
	default:
		got += age
	}
	owners := v.Owners
	if len(owners) > 0 {
		if slices.Equal(owners[0], v.Got) {
			got, owners = got+", and not released,", owners[1:]
		} else {
			got += ", and released,"
		}
	}
	add := func(title string, stack []uintptr) {
		if stack != nil {
			all = append(all, titled{title, stack})
		}
	}
	add(got, v.Got)
	for len(owners) > 0 {
		others := slices.DeleteFunc(slices.Clone(owners), func(o []uintptr) bool { return slices.Equal(o, owners[0]) })
		title := "retained, and not released,"
		if n := len(owners) - len(others); n > 1 {
			title = fmt.Sprintf("retained %d times, and not released,", n)
		}
		add(title, owners[0])
		owners = others
	}
	add(put, v.Put)
	add(offence, v.Offence)
	return all
}

// about rounds to three digits.
func about(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// Frames returns the frames of a stack of a [Violation], without the innermost ones that are inside dewpond, and
// without those of the runtime and of wrappers that the compiler makes.
func Frames(stack []uintptr) (all []runtime.Frame) {
	if len(stack) == 0 {
		return nil
	}
	frames := runtime.CallersFrames(stack)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		ours := len(all) == 0 && more && Inside(f.Function)
		if !ours && f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") && !wrapper(f) {
			all = append(all, f)
		}
	}
	return all
}

// textOf returns two lines for each of the Frames, as the stack of a panic has.
func textOf(stack []uintptr) string {
	var text strings.Builder
	for _, f := range Frames(stack) {
		fmt.Fprintf(&text, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
	}
	if text.Len() == 0 {
		return "\tunknown\n"
	}
	return text.String()
}

// wrapper reports whether a frame is of a function that the compiler has made, for a go or a
// defer statement or for a method. The runtime's own stacks do not have it.
func wrapper(f runtime.Frame) bool {
	return f.File == "<autogenerated>" || strings.Contains(f.Function, ".gowrap") || strings.Contains(f.Function, ".deferwrap")
}

const library = "github.com/dewpond/dewpond"

// between are the parts of the library that may lie between a caller and a Checker.
var between = []string{".", "/dewsync.", "/internal/check.(*Checker).", "/internal/check.(*Watch).", "/internal/guardpage.", "/internal/admission.", "/internal/late."}

// Inside reports whether a function is one of dewpond's that lie between a caller and what finds its misuse.
// [Frames] leaves these out.
func Inside(function string) bool {
	rest, ok := strings.CutPrefix(function, library)
	return ok && slices.ContainsFunc(between, func(part string) bool { return strings.HasPrefix(rest, part) })
}
