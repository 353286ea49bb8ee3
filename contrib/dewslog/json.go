package dewslog

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
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
		return append(v.Time().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
	case slog.KindFloat64:
		// encoding/json writes the others with an exponent, and refuses NaN.
		if f := v.Float64(); f == 0 || 1e-6 <= math.Abs(f) && math.Abs(f) < 1e21 {
			return strconv.AppendFloat(b, f, 'f', -1, 64)
		}
	}
	switch x := v.Any().(type) {
	case slog.Level:
		return appendString(b, x.String())
	case json.Marshaler:
	case error:
		return appendString(b, x.Error())
	}
	encoded, err := json.Marshal(v.Any())
	if err != nil {
		return appendString(b, fmt.Sprintf("!ERROR:%v", err))
	}
	return append(b, encoded...)
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
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[done:i]...), `\ufffd`...)
				done = i + 1
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
