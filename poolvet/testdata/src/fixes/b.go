package fixes

import "testdata.example/src/wrap"

func importsNothing() []byte {
	b := wrap.Acquire()
	defer wrap.Release(b)
	b.WriteByte(1)
	return b.Bytes() // want `b.Bytes\(\) is returned`
}

func importsOnce() []byte {
	b := wrap.Acquire()
	defer wrap.Release(b)
	return b.Bytes()[:0] // want `b.Bytes\(\)\[:0\] is returned`
}
