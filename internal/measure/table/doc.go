// Package table lays a document out in tables, for text as for HTML. layout.go has
// their order.
package table
