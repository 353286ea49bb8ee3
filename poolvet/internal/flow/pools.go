package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// This file is about pools as such: what they are made to hold.

// handles are types of which no two are alike: what they stand for is outside the memory.
var handles = map[string]bool{
	"database/sql.DB": true, "database/sql.Conn": true, "database/sql.Tx": true, "database/sql.Stmt": true,
	"net.Conn": true, "net.TCPConn": true, "net.UDPConn": true, "net.UnixConn": true, "crypto/tls.Conn": true,
	"os.File": true, "context.Context": true, "sync.Mutex": true, "sync.RWMutex": true,
}

// own goroutines that live until Close.
var closing = map[string]bool{
	"github.com/klauspost/compress/zstd.Decoder": true,
}

func typeName(t types.Type) string {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	return named.Obj().Pkg().Path() + "." + named.Obj().Name()
}

// A kind is what is known of one pool in a variable.
type kind struct {
	news    []types.Type // what New returns
	unclear bool         // New is set elsewhere, or is no literal
	hasNew  bool
}

// poolsMade looks at each literal of a pool, and at what Put gets.
func (a *flowPass) poolsMade() {
	kinds := map[types.Object]*kind{}
	for _, file := range a.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.ValueSpec:
				for i, name := range x.Names {
					obj := a.pass.TypesInfo.Defs[name]
					if obj == nil || typeName(obj.Type()) != "sync.Pool" || obj.Parent() != a.pass.Pkg.Scope() {
						continue
					}
					k := &kind{unclear: obj.Exported()}
					if i < len(x.Values) {
						a.literal(x.Values[i], k)
					}
					kinds[obj] = k
				}
			case *ast.CompositeLit:
				a.options(x)
				if typeName(a.pass.TypesInfo.TypeOf(x)) == "sync.Pool" {
					made := &kind{}
					a.literal(x, made)
					for _, t := range made.news {
						a.unfit(x.Pos(), t)
					}
					if !slices.ContainsFunc(made.news, func(t types.Type) bool { return handles[typeName(t)] }) {
						a.opens(x)
					}
				}
			}
			return true
		})
	}
	for _, file := range a.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.AssignStmt:
				for _, l := range x.Lhs {
					if s, ok := ast.Unparen(l).(*ast.SelectorExpr); ok && s.Sel.Name == "New" {
						if k := kinds[a.object(s.X)]; k != nil {
							k.unclear = true
						}
					} else if k := kinds[a.object(l)]; k != nil {
						k.unclear = true
					}
				}
			case *ast.UnaryExpr:
				if k := kinds[a.object(x.X)]; k != nil && x.Op == token.AND {
					k.unclear = true
				}
			}
			return true
		})
	}
	a.badGets(kinds)
	for _, f := range a.fns {
		for _, call := range a.putCalls[f] {
			r, ok := a.roleOf(call.Common())
			if !ok || r.moves {
				continue
			}
			if v := argument(call.Common(), r.puts-1); v != nil {
				for c, ok := v.(*ssa.ChangeInterface); ok; c, ok = v.(*ssa.ChangeInterface) {
					v = c.X
				}
				a.unfit(call.Pos(), unboxed(v).Type())
			}
		}
	}
}

func (a *syntax) object(e ast.Expr) types.Object {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		return a.pass.TypesInfo.Uses[id]
	}
	return nil
}

func (a *flowPass) unfit(pos token.Pos, t types.Type) {
	if name := typeName(t); handles[name] {
		a.report("unfit", pos, nil, "%s is a handle, not memory: do not pool it (unfit)", types.TypeString(t, (*types.Package).Name))
	}
}

// opens finds a New that opens a handle, which it neither closes nor returns as such: it is in what New returns.
func (a *flowPass) opens(pool *ast.CompositeLit) {
	var body *ast.BlockStmt
	for _, el := range pool.Elts {
		if kv, ok := el.(*ast.KeyValueExpr); ok {
			if f, ok := kv.Value.(*ast.FuncLit); ok {
				body = f.Body
			}
		}
	}
	if body == nil {
		return
	}
	var opened *ast.CallExpr
	var handle types.Type
	ends := false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch f.Sel.Name {
		case "Close", "SetFinalizer", "AddCleanup":
			ends = true
		}
		fn, ok := a.pass.TypesInfo.Uses[f.Sel].(*types.Func)
		if !ok || fn.Pkg() == nil || !inStandardLibrary(fn) || fn.Signature().Results().Len() == 0 || fn.Signature().Results().Len() > 2 {
			return true
		}
		t := fn.Signature().Results().At(0).Type()
		switch name := typeName(t); {
		case name == "context.Context" || strings.HasPrefix(name, "sync."):
		case handles[name]:
			opened, handle = call, t
		}
		return true
	})
	if opened != nil && !ends {
		a.report("unfit", opened.Pos(), nil, "New opens a %s, which nothing closes when the pool drops what has it (unfit)", types.TypeString(handle, (*types.Package).Name))
	}
}

// literal reads what New of a sync.Pool literal returns.
func (a *syntax) literal(e ast.Expr, k *kind) {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
		e = u.X
	}
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok || typeName(a.pass.TypesInfo.TypeOf(lit)) != "sync.Pool" {
		k.unclear = true
		return
	}
	for _, el := range lit.Elts {
		kv, ok := el.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if id, ok := kv.Key.(*ast.Ident); !ok || id.Name != "New" {
			continue
		}
		k.hasNew = true
		f, ok := kv.Value.(*ast.FuncLit)
		if !ok {
			k.unclear = true
			return
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				if len(x.Results) != 1 {
					k.unclear = true
					return false
				}
				t := a.pass.TypesInfo.TypeOf(x.Results[0])
				if t == nil || types.IsInterface(t) {
					k.unclear = true
				} else {
					k.news = append(k.news, types.Default(t))
				}
			}
			return true
		})
	}
}

// options looks at the options of a Pool[T].
func (a *flowPass) options(lit *ast.CompositeLit) {
	named, ok := types.Unalias(a.pass.TypesInfo.TypeOf(lit)).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != dewpondPath || named.Obj().Name() != "PoolOptions" || named.TypeArgs().Len() != 1 {
		return
	}
	t := named.TypeArgs().At(0)
	a.unfit(lit.Pos(), t)
	if !closing[typeName(t)] {
		return
	}
	for _, el := range lit.Elts {
		if kv, ok := el.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == "Drop" {
				return
			}
		}
	}
	a.report("unfit", lit.Pos(), nil, "%s owns goroutines: the pool needs a Drop that closes it (unfit)", types.TypeString(t, (*types.Package).Name))
}

// badGets compares what a Get is asserted to be with what New returns.
func (a *flowPass) badGets(kinds map[types.Object]*kind) {
	for _, f := range a.fns {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				as, ok := in.(*ssa.TypeAssert)
				if !ok || as.CommaOk || types.IsInterface(as.AssertedType) {
					continue
				}
				get, ok := as.X.(*ssa.Call)
				if !ok || get.Call.IsInvoke() || called(get.Common()) == nil || fullName(called(get.Common())) != "sync.Pool.Get" {
					continue
				}
				g, ok := get.Call.Args[0].(*ssa.Global)
				if !ok {
					if load, isLoad := get.Call.Args[0].(*ssa.UnOp); isLoad {
						g, ok = load.X.(*ssa.Global)
					}
				}
				if !ok {
					continue
				}
				k := kinds[g.Object()]
				if k == nil || k.unclear {
					continue
				}
				if !k.hasNew {
					if !comparedWithNil(get) {
						a.report("badget", as.Pos(), nil, "%s has no New, so Get may return nil, which this assertion panics on (badget)", g.Name())
					}
					continue
				}
				for _, t := range k.news {
					if !types.Identical(t, as.AssertedType) {
						a.report("badget", as.Pos(), nil, "New of %s makes a %s, and this is asserted to be a %s (badget)", g.Name(),
							types.TypeString(t, types.RelativeTo(a.pass.Pkg)), types.TypeString(as.AssertedType, types.RelativeTo(a.pass.Pkg)))
					}
				}
			}
		}
	}
}

func comparedWithNil(v ssa.Value) bool {
	for _, r := range *v.Referrers() {
		if b, ok := r.(*ssa.BinOp); ok && (isNil(b.X) || isNil(b.Y)) {
			return true
		}
	}
	return false
}
