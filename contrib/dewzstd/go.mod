module github.com/dewpond/dewpond/contrib/dewzstd

go 1.26.0

require github.com/dewpond/dewpond v0.0.0

require github.com/klauspost/compress v1.20.3

replace github.com/dewpond/dewpond => ../..
