package geo

import (
	"cmp"
	"slices"
	"strings"
)

const (
	maxNearest = 3  // how many words an error proposes
	maxGuessed = 60 // longer text is not compared with anything
)

// guess is a known word that may be meant, the better the lower its rank.
type guess struct {
	word string
	rank int
}

// best returns the words of the best guesses, each once.
func best(guesses []guess) []string {
	slices.SortStableFunc(guesses, func(a, b guess) int {
		return cmp.Or(a.rank-b.rank, strings.Compare(a.word, b.word))
	})
	var words []string
	for _, g := range guesses {
		if len(words) == maxNearest {
			break
		}
		if !slices.Contains(words, g.word) {
			words = append(words, g.word)
		}
	}
	return words
}

// nearestCodes returns the codes that may be meant by text which is no code.
func nearestCodes(text string) []string { return best(guessCodes(text)) }

// nearestTerms returns the terms of a selection that may be meant by text which is none.
func nearestTerms(text string) []string {
	guesses := guessCodes(text)
	for i := range guesses {
		if guesses[i].word == codeEU.String() {
			guesses[i].word = "cc:EU" // the bare word is the group
		}
	}
	if len(text) > maxGuessed {
		return nil
	}
	word := fold(text)
	for _, g := range loadGroups().all {
		name := fold(g.Name)
		switch d := distance(word, name); {
		case len(word) >= 4 && (strings.HasPrefix(name, word) || strings.HasSuffix(name, word)):
			guesses = append(guesses, guess{g.Name, min(d, 1)})
		case d <= tolerance(word):
			guesses = append(guesses, guess{g.Name, d})
		}
	}
	return best(guesses)
}

func guessCodes(text string) []guess {
	word := fold(text)
	if word == "" || len(text) > maxGuessed {
		return nil
	}
	if word == "zz" {
		return nil // "unknown" is not a slip for any country
	}
	var guesses []guess
	for _, c := range loadCodes().all {
		code, name := fold(c.String()), fold(c.Name())
		if c == codeEU || c == codeAP {
			name = "" // what is written there names no country
		}
		switch d := distance(word, name); {
		case d == 0 || word == code:
			return []guess{{c.String(), 0}}
		case len(word) >= 4 && d <= tolerance(word):
			guesses = append(guesses, guess{c.String(), d})
		case len(word) >= 4 && strings.HasPrefix(name, word):
			guesses = append(guesses, guess{c.String(), 1})
		case len(word) >= 5 && strings.Contains(name, word):
			guesses = append(guesses, guess{c.String(), 3})
		case len(word) <= 3 && distance(word, code) <= 1:
			// Swapped letters and a letter too many are likelier than a wrong first letter.
			rank := 1
			if swapped := len(word) == 2 && word[0] == code[1] && word[1] == code[0]; !swapped && word[0] != code[0] {
				rank = 2
			}
			guesses = append(guesses, guess{c.String(), rank})
		}
	}
	return guesses
}

// tolerance is how many slips a word of this length may have.
func tolerance(word string) int {
	switch n := len(word); {
	case n <= 3:
		return 1
	case n <= 12:
		return 2
	}
	return 3
}

// distance counts the slips between two words: a byte added, left out or replaced, or two neighbours swapped, no byte
// being touched twice.
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := above[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(replaced, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
