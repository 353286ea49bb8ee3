module github.com/dewpond/dewpond/instruments/kit

go 1.26.0

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794
	golang.org/x/term v0.47.0
)

require golang.org/x/sys v0.49.0 // indirect
