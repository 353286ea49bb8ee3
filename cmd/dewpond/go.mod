module github.com/dewpond/dewpond/cmd/dewpond

go 1.26.0

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794
	github.com/alecthomas/kong v1.17.0
	github.com/bytedance/gopkg v0.1.4
	github.com/dewpond/dewpond v0.0.0
	github.com/dewpond/dewpond/instruments/kit v0.0.0
	github.com/google/pprof v0.0.0-20260906184651-6331bc6350fe
	github.com/rogpeppe/go-internal v1.16.0
	github.com/valyala/bytebufferpool v1.0.0
	golang.org/x/exp v0.0.0-20260908205506-85c1c2202aba
	golang.org/x/term v0.47.0
	google.golang.org/grpc v1.85.0
)

require (
	github.com/oxtoacart/bpool v0.0.0-20190530202638-03653db5a59c
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.50.0 // indirect
)

replace (
	github.com/dewpond/dewpond => ../..
	github.com/dewpond/dewpond/instruments/kit => ../../instruments/kit
)
