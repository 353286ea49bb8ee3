package secret

import (
	"reflect"

	"github.com/dewpond/dewpond/instruments/kit/plain"
)

// Hide replaces the secrets in all texts of what p points to, and the control characters of the
// foreign ones, which a terminal would obey. It goes through all fields, so that one that is new is
// not forgotten.
func Hide(p any) { hide(reflect.ValueOf(p).Elem()) }

func hide(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); s != "" {
			v.SetString(Text(plain.Line(s)))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			hide(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				hide(v.Field(i))
			}
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Uint8, reflect.Float64: // a histogram, a metric's values
			return
		}
		for i := range v.Len() {
			hide(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			hide(value)
			name := reflect.New(key.Type()).Elem()
			name.Set(key)
			hide(name)
			if !name.Equal(key) {
				v.SetMapIndex(key, reflect.Value{})
			}
			v.SetMapIndex(name, value)
		}
	}
}
