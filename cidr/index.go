package cidr

// block says between which spans to search: from one on, and how many more. If that is negative, it is the business of
// the node ^more.
type block struct {
	from uint32
	more int32
}

// searched is how many spans are few enough to be searched without being divided. find counts on it.
const searched = 4
