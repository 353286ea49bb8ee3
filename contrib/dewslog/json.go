package dewslog

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// appendKey appends a member's name, and before it a comma unless it is the first.
func appendKey(b []byte, key string) []byte {
	if n := len(b); n > 0 && b[n-1] != '{' {
		b = append(b, ',')
	}
	return append(appendString(b, key), ':')
}

func appendValue(b []byte, v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindString:
		return appendString(b, v.String())
	case slog.KindInt64:
		return strconv.AppendInt(b, v.Int64(), 10)
	case slog.KindUint64:
		return strconv.AppendUint(b, v.Uint64(), 10)
	case slog.KindDuration:
		return strconv.AppendInt(b, int64(v.Duration()), 10)
	case slog.KindBool:
		return strconv.AppendBool(b, v.Bool())
	case slog.KindTime:
		t := v.Time()
		if year := t.Year(); year < 0 || year > 9999 { // which RFC 3339 does not have
			return appendError(b, errors.New("time.Time year outside of range [0,9999]"))
		}
		return append(t.AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
	case slog.KindFloat64:
		// encoding/json writes the others with an exponent, and refuses NaN.
		if f := v.Float64(); f == 0 || 1e-6 <= math.Abs(f) && math.Abs(f) < 1e21 {
			return strconv.AppendFloat(b, f, 'f', -1, 64)
		}
	}
	return appendAny(b, v.Any())
}

// appendAny appends what a value's own methods, or encoding/json, make of it. A log line must
// not end the program that writes it, so a method that panics is a part of the line.
func appendAny(b []byte, x any) (line []byte) {
	defer func() {
		if r := recover(); r == nil {
			return
		} else if v := reflect.ValueOf(x); v.Kind() == reflect.Pointer && v.IsNil() {
			line = appendString(b, "<nil>") // the method does not expect it
		} else {
			line = appendString(b, fmt.Sprintf("!PANIC: %v", r))
		}
	}()
	if err, ok := x.(error); ok {
		if _, ok := x.(json.Marshaler); !ok {
			return appendString(b, err.Error())
		}
	}
	out := appender(b)
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(x); err != nil {
		return appendError(b, err)
	}
	return out[:len(out)-1] // without the newline
}

func appendError(b []byte, err error) []byte {
	return appendString(b, fmt.Sprintf("!ERROR:%v", err))
}

// An appender appends what is written.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

const hex = "0123456789abcdef"

// appendString appends a JSON string. What is not UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	done := 0 // s[:done] is in b
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				b = append(append(b, s[done:i]...), `\ufffd`...)
				done = i + 1
			case r == '\u2028' || r == '\u2029': // which end a line in JavaScript
				b = append(append(append(b, s[done:i]...), `\u202`...), hex[r&15])
				done = i + size
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			b = append(append(b, s[done:i]...), '\\')
			switch c {
			case '"', '\\':
				b = append(b, c)
			case '\n':
				b = append(b, 'n')
			case '\r':
				b = append(b, 'r')
			case '\t':
				b = append(b, 't')
			default:
				b = append(b, 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			done = i + 1
		}
		i++
	}
	return append(append(b, s[done:]...), '"')
}
