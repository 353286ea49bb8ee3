package evidence

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/sites"
)

// A Source is the directory with the source of the program. Only one goroutine may use it.
type Source struct {
	dir     string
	modules []module
	files   map[string]*file
}

type module struct{ path, dir string }

type file struct {
	set    *token.FileSet
	syntax *ast.File
}

// ErrNoSource means that there is no source of a file of the program.
var ErrNoSource = errors.New("its source is not there: give --src DIR, the directory of the program's module")

// mostSource is how large a file may be that is parsed.
const mostSource = 8 << 20

// Open opens the source in a directory, or in one below which it is. Modules are those of its go.mod,
// or of its go.work.
func Open(dir string) (*Source, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory", dir)
	}
	s := &Source{dir: dir, files: map[string]*file{}}
	for at := dir; ; at = filepath.Dir(at) {
		if name := modulePath(filepath.Join(at, "go.mod")); name != "" {
			s.modules = append(s.modules, module{name, at})
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return s, nil
}

// modulePath returns the path that a go.mod begins with, or nothing.
func modulePath(name string) string {
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			rest = strings.TrimSpace(rest)
			if path, err := strconv.Unquote(rest); err == nil {
				return path
			}
			return rest
		}
	}
	return ""
}

// Modules returns the paths of the modules.
func (s *Source) Modules() []string {
	var out []string
	for _, m := range s.modules {
		out = append(out, m.path)
	}
	return out
}

// Of tells what the line of a frame makes by itself. size is what Go has allocated there.
func (s *Source) Of(f sites.Frame) (Finding, error) {
	file, err := s.find(f)
	if err != nil {
		return Finding{}, err
	}
	return file.line(f)
}

// find finds the file of a frame. What a program was built from may have been elsewhere, or be named
// by its module, so the longest end of its path that there is below the directory is taken.
func (s *Source) find(f sites.Frame) (*file, error) {
	name := strings.ReplaceAll(f.File, `\`, "/")
	for _, m := range s.modules {
		if rest, ok := strings.CutPrefix(name, m.path+"/"); ok {
			return s.parse(filepath.Join(m.dir, filepath.FromSlash(rest)))
		}
	}
	if filepath.IsAbs(f.File) && within(f.File, s.root()) {
		return s.parse(f.File)
	}
	parts := strings.Split(strings.TrimLeft(name, "/"), "/")
	for i := range parts {
		at := filepath.Join(s.root(), filepath.Join(parts[i:]...))
		if _, err := os.Stat(at); err == nil && within(at, s.root()) {
			return s.parse(at)
		}
	}
	return nil, ErrNoSource
}

// root is where files are looked for.
func (s *Source) root() string {
	if len(s.modules) > 0 {
		return s.modules[0].dir
	}
	return s.dir
}

func within(name, dir string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

func (s *Source) parse(name string) (*file, error) {
	if f := s.files[name]; f != nil {
		return f, nil
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostSource {
		return nil, ErrNoSource
	}
	f := &file{set: token.NewFileSet()}
	if f.syntax, err = parser.ParseFile(f.set, name, nil, parser.SkipObjectResolution); err != nil {
		return nil, fmt.Errorf("its source cannot be parsed: %w", err)
	}
	s.files[name] = f
	return f, nil
}

// line tells what a line makes.
func (f *file) line(at sites.Frame) (Finding, error) {
	function, name := f.around(at.Line), functionName(at)
	switch {
	case function == nil && name != "":
		return Finding{}, fmt.Errorf("line %d of %s is in no function: the source is not that of the program", at.Line, at.Short())
	case function != nil && name != "" && function.Name.Name != name:
		return Finding{}, fmt.Errorf("line %d of %s is in %s and not in %s: the source is not that of the program", at.Line, at.Short(), function.Name.Name, name)
	}
	var found []Finding
	var ways []ast.Node // from the file to the node
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if n == nil {
			ways = ways[:len(ways)-1]
			return true
		}
		ways = append(ways, n)
		if f.set.Position(n.Pos()).Line == at.Line {
			if finding, ok := f.makes(n, ways); ok {
				found = append(found, finding)
			}
		}
		return true
	})
	return choose(found), nil
}

// choose returns what a line makes if that is one thing.
func choose(found []Finding) Finding {
	slices.SortStableFunc(found, func(a, b Finding) int { return weak(a) - weak(b) })
	if len(found) == 0 {
		return Finding{Tool: Unknown, Why: "the source of the line shows no allocation: what it calls may have been inlined, or a variable that it declares has escaped"}
	}
	for _, other := range found[1:] {
		if weak(other) == 0 && (other.Tool != found[0].Tool || other.Why != found[0].Why) {
			return Finding{Tool: Unknown, Why: "the line makes more than one thing (" + found[0].Why + "; " + other.Why + "): put them on lines of their own, and look again"}
		}
	}
	return found[0]
}

// weak is 1 for what only may be an allocation, and holds where nothing else on the line is one.
func weak(f Finding) int {
	if f.Tool == None && strings.HasPrefix(f.Why, "a box") {
		return 1
	}
	return 0
}

// closure matches what the compiler adds to a function's name for one within it.
var closure = regexp.MustCompile(`^(func|gowrap|deferwrap)?\d+$`)

// functionName returns the name of the declared function that a frame is in: a closure's is that
// around it. It is empty for what is in none.
func functionName(f sites.Frame) string {
	name, _, _ := strings.Cut(f.Name(), "[")
	name, _, _ = strings.Cut(name, "-range") // the body of a loop over a function
	if strings.HasPrefix(name, "(") {
		_, name, _ = strings.Cut(name, ").") // the receiver
	}
	first, rest, more := strings.Cut(name, ".")
	second, _, _ := strings.Cut(rest, ".")
	switch {
	case first == "init", first == "glob": // of a variable, or one of several functions init
		return ""
	case more && !closure.MatchString(second): // a method of a value
		return second
	}
	return first
}

// around returns the declared function that has a line.
func (f *file) around(line int) *ast.FuncDecl {
	for _, d := range f.syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && f.set.Position(fn.Pos()).Line <= line && line <= f.set.Position(fn.End()).Line {
			return fn
		}
	}
	return nil
}

// makes tells what a node of the syntax allocates. ways leads to it.
func (f *file) makes(n ast.Node, ways []ast.Node) (Finding, bool) {
	switch n := n.(type) {
	case *ast.CallExpr:
		finding, ok := f.call(n, ways)
		if ok && finding.Tool != None {
			finding.Inside, finding.Pieces = f.loop(ways)
		}
		return finding, ok
	case *ast.UnaryExpr:
		if literal, ok := n.X.(*ast.CompositeLit); ok && n.Op == token.AND {
			return object(literal.Type), literal.Type != nil
		}
	case *ast.CompositeLit:
		return f.literal(n, ways)
	case *ast.ValueSpec:
		for _, name := range n.Names {
			if n.Type != nil && addressed(name.Name, ways) {
				return object(n.Type), true
			}
		}
	case *ast.FuncLit:
		if len(ways) > 2 {
			if _, ok := ways[len(ways)-3].(*ast.GoStmt); ok {
				return Finding{}, false // the statement says it
			}
		}
		return Finding{Tool: None, Why: "a closure: the compiler makes it; pass what it captures as arguments"}, true
	case *ast.GoStmt:
		return Finding{Tool: None, Why: "a goroutine: its stack and what it captures are the runtime's; keep workers instead of starting one for each task"}, true
	case *ast.BinaryExpr:
		if n.Op == token.ADD && (isString(n.X) || isString(n.Y)) {
			return text("the line joins it"), true
		}
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			if _, ok := left.(*ast.IndexExpr); ok {
				f := aMap()
				f.Why = "a box or " + strings.TrimPrefix(f.Why, "a ") // an index of a slice allocates nothing, and what is assigned may
				return f, true
			}
		}
	}
	return Finding{}, false
}

// literal tells what a composite literal without & allocates.
func (f *file) literal(n *ast.CompositeLit, ways []ast.Node) (Finding, bool) {
	if len(ways) > 1 {
		switch parent := ways[len(ways)-2].(type) {
		case *ast.UnaryExpr: // its & says it
			return Finding{}, false
		case *ast.CompositeLit, *ast.KeyValueExpr: // a part of another
			return Finding{}, false
		case *ast.AssignStmt:
			if name, ok := parent.Lhs[0].(*ast.Ident); ok && len(parent.Lhs) == 1 && addressed(name.Name, ways) {
				if _, isMap := n.Type.(*ast.MapType); !isMap && !isSlice(n.Type) {
					return object(n.Type), n.Type != nil
				}
			}
		}
	}
	switch t := n.Type.(type) {
	case *ast.MapType:
		return aMap(), true
	case *ast.ArrayType:
		if t.Len == nil {
			return slice(t), len(n.Elts) > 0 // an empty one has no memory
		}
	}
	if n.Type == nil {
		return Finding{}, false
	}
	return box(), true
}

// addressed reports whether the function around has &name, so that a variable of that name may be on
// the heap.
func addressed(name string, ways []ast.Node) bool {
	found := false
	for i := len(ways) - 1; i >= 0 && !found; i-- {
		fn, ok := ways[i].(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND {
				if x, ok := u.X.(*ast.Ident); ok && x.Name == name {
					found = true
				}
			}
			return !found
		})
	}
	return found
}

// call tells what a call allocates by itself. ways leads to it.
func (f *file) call(n *ast.CallExpr, ways []ast.Node) (Finding, bool) {
	switch name := types.ExprString(n.Fun); {
	case name == "make" && len(n.Args) > 0:
		switch t := n.Args[0].(type) {
		case *ast.ArrayType:
			return slice(t), true
		case *ast.MapType:
			return aMap(), true
		case *ast.ChanType:
			return Finding{Tool: None, Why: "a channel: who else holds it is not known; keep it with what uses it"}, true
		}
		return Finding{Tool: Unknown, Why: "make of a type that is declared elsewhere"}, true
	case name == "new" && len(n.Args) == 1:
		return object(n.Args[0]), true
	case name == "append" && len(n.Args) > 0:
		return f.appends(n, ways[1]), true
	case name == "string" && len(n.Args) == 1:
		return text("the line turns bytes into one"), true
	case name == "[]byte" && len(n.Args) == 1 && types.ExprString(n.Args[0]) != "nil":
		return Finding{Tool: Buffer, Why: "a string is copied into a slice of bytes", Use: "append(pool.Grow(nil, len(s)), s...), and pool.Put at the end"}, true
	case name == "any", name == "interface{}", strings.HasPrefix(name, "fmt."), strings.HasPrefix(name, "log."), strings.HasPrefix(name, "slog."):
		return box(), true
	}
	return Finding{}, false
}

// appends tells what append makes: of the type of the slice, or else of what is appended. around is the
// declaration around it.
func (f *file) appends(n *ast.CallExpr, around ast.Node) Finding {
	if t, ok := f.typeOf(n.Args[0], around).(*ast.ArrayType); ok {
		return grows("append", types.ExprString(t.Elt))
	}
	last := n.Args[len(n.Args)-1]
	if n.Ellipsis.IsValid() { // both slices have elements of one type
		t := f.typeOf(last, around)
		if name, ok := t.(*ast.Ident); isString(last) || ok && name.Name == "string" {
			return grows("append", "byte")
		}
		if t, ok := t.(*ast.ArrayType); ok {
			return grows("append", types.ExprString(t.Elt))
		}
	} else if literal, ok := last.(*ast.CompositeLit); ok && len(n.Args) > 1 && literal.Type != nil {
		found := grows("append", types.ExprString(literal.Type))
		found.Why += ", or of an interface that has it"
		return found
	}
	return grows("append", "")
}

// typeOf returns the type of an expression as the source has it, or nil if that is not plain. It knows
// variables, and fields of a struct that the file declares.
func (f *file) typeOf(e ast.Expr, around ast.Node) ast.Expr {
	switch e := e.(type) {
	case *ast.SliceExpr:
		return f.typeOf(e.X, around)
	case *ast.Ident:
		return f.declared(e.Name, around)
	case *ast.SelectorExpr:
		t := f.typeOf(e.X, around)
		if pointer, ok := t.(*ast.StarExpr); ok {
			t = pointer.X
		}
		if name, ok := t.(*ast.Ident); ok {
			return f.field(name.Name, e.Sel.Name)
		}
		return nil
	}
	return plain(e)
}

// plain returns the type of an expression that names it, or nil. It looks up no variable, so that one
// which is declared by itself has no end of it.
func plain(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.CompositeLit:
		return e.Type
	case *ast.CallExpr:
		name, _ := e.Fun.(*ast.Ident)
		switch t, ok := e.Fun.(*ast.ArrayType); {
		case ok: // []T(nil)
			return t
		case name != nil && name.Name == "make" && len(e.Args) > 0:
			return e.Args[0]
		case name != nil && name.Name == "append" && len(e.Args) > 0:
			return plain(e.Args[0])
		}
	}
	return nil
}

// declared returns the type of a variable that is declared in the function around, or else outside the
// file's functions. Where a name has several declarations, it is that of them all, or nil.
func (f *file) declared(name string, around ast.Node) ast.Expr {
	var of []ast.Expr
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType, *ast.InterfaceType: // what these name is no variable
			return false
		case *ast.Field:
			for _, id := range n.Names {
				if more, ok := n.Type.(*ast.Ellipsis); ok && id.Name == name {
					of = append(of, &ast.ArrayType{Elt: more.Elt})
				} else if id.Name == name {
					of = append(of, n.Type)
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				switch {
				case id.Name != name:
				case n.Type == nil && len(n.Values) == len(n.Names):
					of = append(of, plain(n.Values[i]))
				default:
					of = append(of, n.Type)
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				switch id, ok := left.(*ast.Ident); {
				case n.Tok != token.DEFINE || !ok || id.Name != name:
				case len(n.Rhs) == len(n.Lhs):
					of = append(of, plain(n.Rhs[i]))
				default:
					of = append(of, nil)
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE && id.Name == name {
					of = append(of, nil)
				}
			}
		}
		return true
	}
	ast.Inspect(around, look)
	for _, d := range f.syntax.Decls {
		if group, ok := d.(*ast.GenDecl); ok && group.Tok == token.VAR && len(of) == 0 {
			for _, spec := range group.Specs {
				look(spec)
			}
		}
	}
	for _, t := range of {
		if t == nil || types.ExprString(t) != types.ExprString(of[0]) {
			return nil
		}
	}
	if len(of) == 0 {
		return nil
	}
	return of[0]
}

// field returns the type of a field of a struct that the file declares, or nil.
func (f *file) field(of, name string) ast.Expr {
	for _, d := range f.syntax.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, spec := range group.Specs {
			declared := spec.(*ast.TypeSpec)
			object, ok := declared.Type.(*ast.StructType)
			if !ok || declared.Name.Name != of {
				continue
			}
			for _, field := range object.Fields.List {
				for _, id := range field.Names {
					if id.Name == name {
						return field.Type
					}
				}
			}
		}
	}
	return nil
}

func box() Finding {
	return Finding{Tool: None, Why: "a box of an interface: what is put into an interface is copied; pass a pointer, or a type that is no interface"}
}

func isSlice(t ast.Expr) bool {
	array, ok := t.(*ast.ArrayType)
	return ok && array.Len == nil
}

// slice tells which tool has slices of a type.
func slice(t *ast.ArrayType) Finding {
	element := types.ExprString(t.Elt)
	if element == "byte" || element == "uint8" {
		return Finding{Tool: BytePool, Why: "make([]byte, n)", Use: "pool.Get(n), and pool.Put when it is no longer used", Type: "byte"}
	}
	return Finding{Tool: SlicePool, Why: "a slice of " + element, Use: "pool.Get(n), and pool.Put when it is no longer used", Type: element}
}

// object tells which tool has objects of a type.
func object(t ast.Expr) Finding {
	name := types.ExprString(t)
	return Finding{Tool: Pool, Why: "a " + name, Use: "pool.Get(), and pool.Put when nobody has the pointer any more", Type: name}
}

func isString(e ast.Expr) bool {
	literal, ok := e.(*ast.BasicLit)
	return ok && literal.Kind == token.STRING
}

// loop reports whether a node is within a loop of its function, and how often that runs if the source
// says so: of several, the product.
func (f *file) loop(ways []ast.Node) (inside bool, pieces int) {
	pieces = 1
	for i := len(ways) - 1; i >= 0; i-- {
		switch n := ways[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return inside, known(inside, pieces)
		case *ast.ForStmt:
			inside, pieces = true, pieces*f.times(n.Cond)
		case *ast.RangeStmt:
			inside, pieces = true, pieces*f.number(n.X)
		}
	}
	return inside, known(inside, pieces)
}

func known(inside bool, pieces int) int {
	if !inside {
		return 0
	}
	return pieces
}

// times returns how often a loop with the condition i < N runs, or 0.
func (f *file) times(cond ast.Expr) int {
	c, ok := cond.(*ast.BinaryExpr)
	if !ok {
		return 0
	}
	switch n := f.number(c.Y); {
	case c.Op == token.LSS:
		return n
	case c.Op == token.LEQ && n > 0:
		return n + 1
	}
	return 0
}

// number returns a whole number that the file has, as a literal or as a constant, or 0.
func (f *file) number(e ast.Expr) int {
	if name, ok := e.(*ast.Ident); ok {
		e = f.constant(name.Name)
	}
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.INT {
		return 0
	}
	n, err := strconv.ParseInt(literal.Value, 0, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// constant returns the value of a constant that the file declares outside its functions, or nil.
func (f *file) constant(name string) ast.Expr {
	for _, d := range f.syntax.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			values := spec.(*ast.ValueSpec)
			for i, n := range values.Names {
				if n.Name == name && i < len(values.Values) {
					return values.Values[i]
				}
			}
		}
	}
	return nil
}
