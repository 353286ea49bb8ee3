// Package figure knows the figures by their names: a figure's label, its format, whether it may be
// compared.
package figure
