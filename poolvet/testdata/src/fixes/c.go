package fixes

import (
	"fmt"

	"testdata.example/src/wrap"
)

func importsInAList() []byte {
	b := wrap.Acquire()
	defer wrap.Release(b)
	fmt.Fprint(b, "c")
	return b.Bytes() // want `b.Bytes\(\) is returned`
}
