package transfer

// firstRank is the rank of the whole table.
const firstRank = "0"

// rankBetween returns the digits of a fraction between two others, in the order of texts.
// An empty high is no bound.
func rankBetween(low, high string) string {
	digit := func(s string, i int, none byte) byte {
		if i < len(s) {
			return s[i] - '0'
		}
		return none
	}
	var rank []byte
	bounded := high != ""
	for i := 0; ; i++ {
		least, most := digit(low, i, 0), byte(10)
		if bounded {
			most = digit(high, i, 0)
		}
		if middle := (least + most) / 2; middle > least {
			return string(append(rank, '0'+middle))
		}
		bounded = bounded && least == most
		rank = append(rank, '0'+least)
	}
}

// rankBehind returns a rank between that of a part and that of the next one.
func rankBehind(p *part, parts []*part) string {
	next := ""
	for _, other := range parts {
		if other.rank > p.rank && (next == "" || other.rank < next) {
			next = other.rank
		}
	}
	return rankBetween(p.rank, next)
}
