package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// An order is one line of a request. It holds no pointer, so that a Scope may hold it:
// its symbol is body[start:end].
type order struct {
	start, end int
	value      uint64
}

var newline, space = []byte("\n"), []byte(" ")

// lines returns the most lines that the body can have.
func lines(body []byte) int { return bytes.Count(body, newline) + 1 }

// appendOrders appends the order on each line of the body: "symbol quantity price".
func appendOrders(orders []order, body []byte) ([]order, error) {
	for start, number := 0, 1; start < len(body); number++ {
		line, _, _ := bytes.Cut(body[start:], newline)
		symbol, rest, _ := bytes.Cut(line, space)
		quantity, price, _ := bytes.Cut(rest, space)
		q, err := strconv.ParseUint(string(quantity), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("line %d: quantity: %w", number, err)
		}
		p, err := strconv.ParseUint(string(price), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("line %d: price: %w", number, err)
		}
		orders = append(orders, order{start, start + len(symbol), q * p})
		start += len(line) + 1
	}
	return orders, nil
}

// sortByValue puts the greatest value first, and keeps the order of equal ones.
func sortByValue(orders []order) {
	slices.SortStableFunc(orders, func(a, b order) int { return cmp.Compare(b.value, a.value) })
}

// answerLength returns the most bytes that appendAnswer can append.
func answerLength(orders []order) int {
	n := 0
	for _, o := range orders {
		n += o.end - o.start + len(" 18446744073709551615\n")
	}
	return n
}

// appendAnswer appends a line for each order: "symbol value".
func appendAnswer(answer, body []byte, orders []order) []byte {
	for _, o := range orders {
		answer = append(answer, body[o.start:o.end]...)
		answer = append(answer, ' ')
		answer = strconv.AppendUint(answer, o.value, 10)
		answer = append(answer, '\n')
	}
	return answer
}
