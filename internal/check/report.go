package check

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Report is a Violation as a person reads it.
type Report struct {
	Violation
	Pool   string // its name
	Type   string // of a Pool's objects; "" for blocks
	Field  string // of a WriteAfterPut of an object: the field at Offset
	Advice string // what else may help to find the misuse
}

// String returns, for instance, "double Put".
func (k Kind) String() string {
	switch k {
	case DoublePut:
		return "double Put"
	case WriteAfterPut:
		return "write after Put"
	case ForeignPut:
		return "Put of a foreign slice"
	case InteriorPut:
		return "Put of the inside of a block"
	case Leak:
		return "leak"
	case UseAfterPut:
		return "use after Put"
	case PastEnd:
		return "use past the end of a block"
	case DoubleRelease:
		return "double Release"
	case WriteBeyond:
		return "write beyond what PutWritten was given"
	case ReadAfterPut:
		return "read after Put"
	}
	return fmt.Sprintf("ViolationKind(%d)", uint8(k)) // as the public type is called
}

// String returns a report of several lines, with the stacks.
func (r Report) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "dewpond: %v: %s", r.Kind, r.Summary())
	for _, line := range r.details() {
		fmt.Fprintf(&text, "\n  %s", line)
	}
	for _, s := range r.stacks() {
		fmt.Fprintf(&text, "\n%s at\n%s", s.title, strings.TrimSuffix(s.stack.String(), "\n"))
	}
	if r.Advice != "" {
		fmt.Fprintf(&text, "\n%s", r.Advice)
	}
	return text.String()
}

// Summary says what was misused, in one line.
func (r Report) Summary() string {
	what := fmt.Sprintf("%d bytes", r.Size)
	switch {
	case r.Count > 1:
		things := "blocks"
		if r.Type != "" {
			things = "of type " + r.Type
		}
		upTo := ""
		if r.Bytes != r.Count*r.Size {
			upTo = "up to "
		}
		what = fmt.Sprintf("%d %s of %s%d bytes, %d in all,", r.Count, things, upTo, r.Size, r.Bytes)
	case r.Type != "":
		what = fmt.Sprintf("a %s of %d bytes", r.Type, r.Size)
	}
	of := "of"
	if r.Kind == ForeignPut {
		of = "put back to"
	}
	text := fmt.Sprintf("%s %s pool %q", what, of, r.Pool)
	if n := len(r.Owners); n > 0 {
		text += fmt.Sprintf(", owners that have not released: %d", n)
	}
	return text
}

// details says more of what was misused, in lines.
func (r Report) details() (lines []string) {
	switch r.Kind {
	case ForeignPut:
		if r.Holder != "" {
			lines = append(lines, fmt.Sprintf("it begins in a block of pool %q", r.Holder))
		} else {
			lines = append(lines, "if append has moved it out of a block: use the pool's Append, which moves it to a larger one")
		}
	case InteriorPut:
		lines = append(lines, fmt.Sprintf("it begins at offset %d of the block", r.Offset))
	case UseAfterPut, PastEnd:
		lines = append(lines, fmt.Sprintf("touched at offset %d", r.Offset))
	case ReadAfterPut:
		lines = append(lines, fmt.Sprintf("read, or written zeros to, on the page that has offset %d", r.Offset))
	case WriteAfterPut, WriteBeyond:
		where := fmt.Sprintf("written at offset %d", r.Offset)
		if r.Field != "" {
			where += ", in field " + r.Field
		}
		where += fmt.Sprintf(", over %d bytes", r.Written)
		if r.Written > len(r.New) {
			where += fmt.Sprintf(", of which these are the first %d", len(r.New))
		}
		lines = append(lines, where, fmt.Sprintf("was % x", r.Old), fmt.Sprintf("is  % x%s", r.New, inWords(r.New)))
	}
	return lines
}

// inWords returns bytes as a quoted string if they are text, and "" if they are not.
func inWords(b []byte) string {
	if !utf8.Valid(b) || slices.ContainsFunc([]rune(string(b)), func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) {
		return ""
	}
	return fmt.Sprintf("  %q", b)
}

// A titled is a stack in a report.
type titled struct {
	title string
	stack Stack
}

// stacks returns the stacks that a Report has, in the order of events.
func (r Report) stacks() (all []titled) {
	got, put, offence := "got", "put back", "put back"
	switch r.Kind {
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
	switch age := " " + about(r.Age).String() + " ago"; {
	case r.Count > 1:
		got += " up to" + age
	case r.Put != nil:
		put += age
	default:
		got += age
	}
	owners := r.Owners
	if len(owners) > 0 {
		if slices.Equal(owners[0], r.Got) {
			got, owners = got+", and not released,", owners[1:]
		} else {
			got += ", and released,"
		}
	}
	add := func(title string, stack Stack) {
		if stack != nil {
			all = append(all, titled{title, stack})
		}
	}
	add(got, r.Got)
	for len(owners) > 0 {
		others := slices.DeleteFunc(slices.Clone(owners), func(o Stack) bool { return slices.Equal(o, owners[0]) })
		title := "retained, and not released,"
		if n := len(owners) - len(others); n > 1 {
			title = fmt.Sprintf("retained %d times, and not released,", n)
		}
		add(title, owners[0])
		owners = others
	}
	add(put, r.Put)
	add(offence, r.Offence)
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

// FieldAt returns the path of the innermost field of a type at an offset, or "" if there is
// none.
func FieldAt(t reflect.Type, offset uintptr) string {
	var path []string
	for t != nil && t.Kind() == reflect.Struct {
		var in reflect.Type
		for i := range t.NumField() {
			if f := t.Field(i); f.Offset <= offset && offset-f.Offset < f.Type.Size() {
				path, in, offset = append(path, f.Name), f.Type, offset-f.Offset
				break
			}
		}
		t = in
	}
	return strings.Join(path, ".")
}
