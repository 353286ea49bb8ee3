package load

// A readable is what is to be read on a connection.
type readable int

const (
	cannotTell readable = iota
	nothing             // and it is not at its end
	something           // or its end
)
