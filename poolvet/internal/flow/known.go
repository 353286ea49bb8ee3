package flow

import (
	"fmt"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A role is what a known function does with a pool.
type role struct {
	gets    bool // its first result is out of a pool
	puts    int  // which argument it puts back, from 1, not counting a receiver; 0: none
	moves   bool // it puts back the argument where it returns other memory
	dewpond bool
}

const dewpondPath = "github.com/dewpond/dewpond"

var roles = map[string]role{
	"sync.Pool.Get": {gets: true},
	"sync.Pool.Put": {puts: 1},

	"github.com/valyala/bytebufferpool.Get":      {gets: true},
	"github.com/valyala/bytebufferpool.Put":      {puts: 1},
	"github.com/valyala/bytebufferpool.Pool.Get": {gets: true},
	"github.com/valyala/bytebufferpool.Pool.Put": {puts: 1},

	"google.golang.org/grpc/mem.BufferPool.Get": {gets: true},
	"google.golang.org/grpc/mem.BufferPool.Put": {puts: 1},
	"net/http/httputil.BufferPool.Get":          {gets: true},
	"net/http/httputil.BufferPool.Put":          {puts: 1},

	dewpondPath + "/dewsync.Pool.Get": {gets: true},
	dewpondPath + "/dewsync.Pool.Put": {puts: 1},

	dewpondPath + ".BytePool.Get":         {gets: true, dewpond: true},
	dewpondPath + ".BytePool.TryGet":      {gets: true, dewpond: true},
	dewpondPath + ".BytePool.GetContext":  {gets: true, dewpond: true},
	dewpondPath + ".BytePool.ReadAll":     {gets: true, dewpond: true},
	dewpondPath + ".BytePool.Put":         {puts: 1, dewpond: true},
	dewpondPath + ".BytePool.PutWritten":  {puts: 1, dewpond: true},
	dewpondPath + ".BytePool.Adopt":       {puts: 1, dewpond: true},
	dewpondPath + ".BytePool.Append":      {gets: true, puts: 1, moves: true, dewpond: true},
	dewpondPath + ".BytePool.Grow":        {gets: true, puts: 1, moves: true, dewpond: true},
	dewpondPath + ".BodyPool.Get":         {gets: true, dewpond: true},
	dewpondPath + ".BodyPool.Put":         {puts: 1, dewpond: true},
	dewpondPath + ".SlicePool.Get":        {gets: true, dewpond: true},
	dewpondPath + ".SlicePool.TryGet":     {gets: true, dewpond: true},
	dewpondPath + ".SlicePool.GetContext": {gets: true, dewpond: true},
	dewpondPath + ".SlicePool.Put":        {puts: 1, dewpond: true},
	dewpondPath + ".SlicePool.Adopt":      {puts: 1, dewpond: true},
	dewpondPath + ".SlicePool.Append":     {gets: true, puts: 1, moves: true, dewpond: true},
	dewpondPath + ".SlicePool.Grow":       {gets: true, puts: 1, moves: true, dewpond: true},
	dewpondPath + ".SliceBodyPool.Get":    {gets: true, dewpond: true},
	dewpondPath + ".SliceBodyPool.Put":    {puts: 1, dewpond: true},
	dewpondPath + ".Pool.Get":             {gets: true, dewpond: true},
	dewpondPath + ".Pool.TryGet":          {gets: true, dewpond: true},
	dewpondPath + ".Pool.GetContext":      {gets: true, dewpond: true},
	dewpondPath + ".Pool.Put":             {puts: 1, dewpond: true},
}

// Pools is the flag -pools: more functions that put an argument back, or get.
type Pools map[string]role

func (p Pools) String() string { return "" }

// Set reads a list of path.Type.Method:N, where N is the argument that is put back, from 0,
// or "get".
func (p Pools) Set(list string) error {
	for _, item := range strings.Split(list, ",") {
		name, what, ok := cutLast(item, ":")
		if !ok || name == "" {
			return fmt.Errorf("%q is not path.Type.Put:0, nor path.Type.Get:get", item)
		}
		if what == "get" {
			p[name] = role{gets: true}
			continue
		}
		n, err := strconv.Atoi(what)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is not path.Type.Put:0, nor path.Type.Get:get", item)
		}
		p[name] = role{puts: n + 1}
	}
	return nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// fullName is path.Func, or path.Type.Method whether or not the receiver is a pointer, and
// without type parameters.
func fullName(f *types.Func) string {
	if f == nil || f.Pkg() == nil {
		return ""
	}
	path := f.Pkg().Path()
	if i := strings.Index(path, " ["); i >= 0 {
		path = path[:i]
	}
	if recv := f.Signature().Recv(); recv != nil {
		t := types.Unalias(recv.Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		if named, ok := t.(*types.Named); ok {
			return path + "." + named.Obj().Name() + "." + f.Name()
		}
		return path + ".." + f.Name()
	}
	return path + "." + f.Name()
}

// called is the function that a call names, an interface's method included, and nil for
// function values.
func called(c *ssa.CallCommon) *types.Func {
	if c.IsInvoke() {
		return c.Method
	}
	if f := c.StaticCallee(); f != nil {
		if obj, ok := f.Object().(*types.Func); ok {
			return obj.Origin()
		}
	}
	return nil
}

func (a *calls) roleOf(c *ssa.CallCommon) (role, bool) {
	f := called(c)
	if f == nil {
		return role{}, false
	}
	name := fullName(f)
	if r, ok := roles[name]; ok {
		return r, true
	}
	r, ok := a.more[name]
	return r, ok
}

// argument is the n-th argument of a call, from 0, not counting a receiver.
func argument(c *ssa.CallCommon, n int) ssa.Value {
	if !c.IsInvoke() && c.Signature().Recv() != nil {
		n++
	}
	if n >= len(c.Args) {
		return nil
	}
	return c.Args[n]
}

// inMemory are methods whose result is memory of their receiver.
var inMemory = map[string]bool{
	"bytes.Buffer.Bytes":                                 true,
	"bytes.Buffer.Next":                                  true,
	"bytes.Buffer.Peek":                                  true,
	"bytes.Buffer.AvailableBuffer":                       true,
	"github.com/valyala/bytebufferpool.ByteBuffer.Bytes": true,
	dewpondPath + ".Lease.Truncate":                      true,
	"bytes.TrimSpace":                                    true,
	"bytes.TrimFunc":                                     true,
	"bytes.TrimLeftFunc":                                 true,
	"bytes.TrimRightFunc":                                true,
	"bytes.TrimRight":                                    true,
	"bytes.TrimLeft":                                     true,
	"bytes.TrimSuffix":                                   true,
	"bytes.TrimPrefix":                                   true,
	"bytes.Trim":                                         true,
}

// cutting are functions whose first results, as many as it says, are memory of the first argument.
var cutting = map[string]int{
	"bytes.Cut":       2,
	"bytes.CutPrefix": 1,
	"bytes.CutSuffix": 1,
}

// appending are functions that return one of their arguments, which may have moved: by its number in the call,
// where a method's receiver is one.
var appending = map[string]int{
	"slices.Insert":                             0,
	"slices.Grow":                               0,
	"slices.Replace":                            0,
	"slices.Delete":                             0,
	"slices.Compact":                            0,
	"strconv.AppendInt":                         0,
	"strconv.AppendUint":                        0,
	"strconv.AppendFloat":                       0,
	"strconv.AppendQuote":                       0,
	"strconv.AppendBool":                        0,
	"fmt.Append":                                0,
	"fmt.Appendf":                               0,
	"fmt.Appendln":                              0,
	"unicode/utf8.AppendRune":                   0,
	"encoding/binary.AppendUvarint":             0,
	"encoding/binary.AppendVarint":              0,
	"encoding/binary.bigEndian.AppendUint16":    1,
	"encoding/binary.bigEndian.AppendUint32":    1,
	"encoding/binary.bigEndian.AppendUint64":    1,
	"encoding/binary.littleEndian.AppendUint16": 1,
	"encoding/binary.littleEndian.AppendUint32": 1,
	"encoding/binary.littleEndian.AppendUint64": 1,
	"encoding/hex.AppendEncode":                 0,
	"encoding/base64.Encoding.AppendEncode":     1,
	"encoding/binary.Append":                    0,
	"crypto/cipher.AEAD.Seal":                   0,
	"crypto/cipher.AEAD.Open":                   0,
	"time.Time.AppendFormat":                    1,
	"net/netip.Addr.AppendTo":                   1,
}

// appendedTo is the argument that a function of the standard library appends to, and nil for other calls.
func appendedTo(call *ssa.Call) ssa.Value {
	f := called(call.Common())
	if f == nil {
		return nil
	}
	i, ok := appending[fullName(f)]
	if !ok || i >= len(call.Call.Args) {
		return nil
	}
	return call.Call.Args[i]
}

// holding are functions whose first result holds an argument, by its number.
var holding = map[string]int{
	"bytes.Split":                    0,
	"bytes.SplitN":                   0,
	"bytes.SplitAfter":               0,
	"bytes.SplitAfterN":              0,
	"bytes.Fields":                   0,
	"bytes.FieldsFunc":               0,
	"bytes.NewReader":                0,
	"bytes.NewBuffer":                0,
	"bufio.NewReader":                0,
	"bufio.NewReaderSize":            0,
	"bufio.NewWriter":                0,
	"bufio.NewScanner":               0,
	"encoding/json.NewDecoder":       0,
	"encoding/json.NewEncoder":       0,
	"io.NopCloser":                   0,
	"io.LimitReader":                 0,
	"io.TeeReader":                   0,
	"net/http.ReadRequest":           0,
	"net/http.ReadResponse":          0,
	"net/http.NewRequest":            2,
	"net/http.NewRequestWithContext": 3,
}

// splitting are functions whose result has slices of the first argument's memory.
var splitting = map[string]bool{
	"bytes.Split": true, "bytes.SplitN": true, "bytes.SplitAfter": true, "bytes.SplitAfterN": true, "bytes.Fields": true, "bytes.FieldsFunc": true,
}

// isPiece reports whether v is an element of what a function has split.
func (a *calls) isPiece(v ssa.Value) bool {
	load, ok := v.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return false
	}
	element, ok := load.X.(*ssa.IndexAddr)
	if !ok {
		return false
	}
	call, ok := a.root(element.X).(*ssa.Call)
	return ok && called(call.Common()) != nil && splitting[fullName(called(call.Common()))]
}

// keeping are functions that keep an argument for as long as they like, by its number in the call.
var keeping = map[string]int{
	"net/http.Client.Do": 1, "net/http.Client.Post": 3, "net/http.Post": 2,
	"net/http.Transport.RoundTrip": 1, "net/http.RoundTripper.RoundTrip": 0,
}

// storingIn are methods that store an argument, by its number, in their receiver.
var storingIn = map[string]int{
	"sync.Map.Store": 2, "sync.Map.LoadOrStore": 2, "sync.Map.Swap": 2, "sync/atomic.Value.Store": 1, "sync/atomic.Pointer.Store": 1,
	"container/list.List.PushBack": 1, "container/list.List.PushFront": 1,
}

// taking are the names of methods that take out again what was stored.
var taking = map[string]bool{
	"Delete": true, "LoadAndDelete": true, "CompareAndDelete": true, "Clear": true, "Remove": true, "Swap": true, "CompareAndSwap": true, "Init": true,
}

// standardPath reports whether a path is of Go's own packages.
func standardPath(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return standard[first] || first == "internal" || first == "cmd" || first == "go" || first == "vendor" || first == "debug" ||
		first == "embed" || first == "archive" || first == "index" || first == "plugin"
}
