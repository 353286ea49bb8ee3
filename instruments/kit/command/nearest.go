package command

// Nearest returns the one of names that a user who typed word most likely means: the first that differs in
// the fewest letters, at most in two and in less than half of them; "" if there is none. A letter that is
// missing, one too many, another one, or two in the wrong order count as one (Damerau and Levenshtein).
func Nearest(word string, names []string) (nearest string) {
	fewest := min(3, (len(word)+1)/2)
	for _, name := range names {
		if n := edits(word, name); n < fewest {
			nearest, fewest = name, n
		}
	}
	return nearest
}

// edits returns how many edits make b of a, each of which is of other letters than the ones before.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range b {
		rows[0][j+1] = j + 1
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			other := 1
			if a[i-1] == b[j-1] {
				other = 0
			}
			n := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+other)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, rows[i-2][j-2]+1)
			}
			rows[i][j] = n
		}
	}
	return rows[len(a)][len(b)]
}
