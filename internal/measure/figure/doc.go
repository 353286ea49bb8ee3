// Package figure knows figures by their names: what a reader calls them, how they are
// printed, which of them may be compared.
package figure
