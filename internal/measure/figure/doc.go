// Package figure names the figures: their labels, how they are printed, and which of them may be
// compared.
package figure
