// Package dewjson encodes JSON into blocks of a pool and decodes it from them. It uses
// encoding/json, and encoding/json/v2 where the program is built with GOEXPERIMENT=jsonv2.
package dewjson
