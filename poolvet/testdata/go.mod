module testdata.example

go 1.26.0

require github.com/dewpond/dewpond v0.0.0

replace github.com/dewpond/dewpond => ../..
