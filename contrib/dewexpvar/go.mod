module github.com/dewpond/dewpond/contrib/dewexpvar

go 1.26.0

require (
	github.com/dewpond/dewpond v0.0.0
	github.com/dewpond/dewpond/contrib/internal/metric v0.0.0
)

replace (
	github.com/dewpond/dewpond => ../..
	github.com/dewpond/dewpond/contrib/internal/metric => ../../contrib/internal/metric
)
