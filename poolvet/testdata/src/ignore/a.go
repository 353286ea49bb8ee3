package ignore

import (
	"bytes"

	"testdata.example/src/wrap"
)

func retry(b *bytes.Buffer) {
	wrap.Release(b)
	wrap.Release(b) //poolvet:ignore doubleput the retry owns it
	//poolvet:ignore useafterput nobody else can have it yet
	b.Reset()
}

func noReason(b *bytes.Buffer) {
	wrap.Release(b)
	/* want `poolvet:ignore useafterput has no reason` */ //poolvet:ignore useafterput
	b.Reset()                                             // want `b is used after its Put`
}

/* want `poolvet:ignore doubleput silences nothing here` */ //poolvet:ignore doubleput it was mended
func nothing()                                              {}

/* want `wants the name of a check` */ //poolvet:ignore everything please
func unknown()                         {}
